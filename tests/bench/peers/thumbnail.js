// sharp, a peer of `make bench-thumbnail`: every JPEG of a folder to a thumbnail, as JPEG of quality 75.
// Arguments: the folder, the one for the results, and the side of the square that a thumbnail fits. A picture has one thread of
// libvips, and as many are in work as there are processors.
const os = require('os')
process.env.UV_THREADPOOL_SIZE = os.cpus().length
const fs = require('fs')
const path = require('path')
const sharp = require('sharp')
sharp.concurrency(1)
sharp.cache(false)

const [folder, results, side] = process.argv.slice(2)
fs.mkdirSync(results, { recursive: true })
const names = fs.readdirSync(folder).sort()

async function work() {
  for (let name; (name = names.pop()); ) {
    await sharp(path.join(folder, name))
      .resize(Number(side), Number(side), { fit: 'inside', withoutEnlargement: true })
      .jpeg({ quality: 75 })
      .toFile(path.join(results, name))
  }
}
Promise.all(os.cpus().map(work)).catch((error) => {
  console.error(error.message)
  process.exit(1)
})
