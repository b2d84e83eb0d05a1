#!/bin/sh
# Makes two Debian packages of what was built: gpufilter (program, manual, completions, shared library) and gpufilter-dev
# (headers, static library, files of pkg-config and CMake). Environment: BUILD, whose neighbour $BUILD-deb holds the build; VERSION;
# COMPRESSION, xz if unset. Arguments: the pkg-config packages that the library needs. dpkg-deb is enough; dpkg-shlibdeps
# is used where it is.
set -eu
arch=$(dpkg --print-architecture)
libdir=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || ${CC:-cc} -print-multiarch)
mkdir -p "$BUILD"
packages=$(cd "$BUILD" && pwd)/packages
root=$packages/gpufilter dev=$packages/gpufilter-dev
rm -rf "$packages"
mkdir -p "$root/DEBIAN" "$dev/DEBIAN"
make --no-print-directory -s BUILD="$BUILD-deb" DESTDIR="$root" PREFIX=/usr LIBDIR="$libdir" \
    ZSHDIR=/usr/share/zsh/vendor-completions install

# Of the library, what programs are built with goes into the second package.
mkdir -p "$dev$libdir" "$dev/usr/share/doc/gpufilter-dev" "$root/usr/share/doc/gpufilter"
mv "$root/usr/include" "$dev/usr/"
mv "$root$libdir/pkgconfig" "$root$libdir/cmake" "$root$libdir/libgpufilter.a" "$root$libdir/libgpufilter.so" "$dev$libdir/"
cp LICENSE "$root/usr/share/doc/gpufilter/copyright"
cp LICENSE "$dev/usr/share/doc/gpufilter-dev/copyright"
gzip -9n "$root/usr/share/man/man1/gpufilter.1" "$root"/usr/share/man/man7/*.7
strip --strip-unneeded "$root/usr/bin/gpufilter" "$root$libdir"/libgpufilter.so.*
strip --strip-debug "$dev$libdir/libgpufilter.a"

# list: the lines that come in, between commas.
list()
{
    sort -u | paste -sd, - | sed 's/,/, /g'
}

# owners FILE...: the installed packages that these files are of, a line each.
owners()
{
    for file; do
        dpkg -S "$(readlink -f "$file")" 2>/dev/null || dpkg -S "*/$(basename "$file")"
    done | sed 's/[:,].*//'
}

# The libraries that the program was linked with, with the versions that have what it uses, or with those that are here.
needs()
{
    mkdir -p "$packages/debian" && echo "Source: gpufilter" >"$packages/debian/control"
    if ! (cd "$packages" && dpkg-shlibdeps -O --ignore-missing-info "$root/usr/bin/gpufilter" \
        "$root$libdir"/libgpufilter.so.? 2>/dev/null) | sed -n 's/^shlibs:Depends=//p' | grep .; then
        # shellcheck disable=SC2046 # names without spaces
        dpkg-query -W -f '${Package} (>= ${Version}\n' $(owners $(ldd "$root/usr/bin/gpufilter" |
            sed -n 's/.*=> \(\/[^ ]*\).*/\1/p')) | sed 's/-[^- ]*$//; s/$/)/' | list
    fi
}

# control FOLDER PACKAGE SECTION DEPENDS SUMMARY [RECOMMENDS]: the rest of the description comes in.
control()
{
    sed '/^Recommends: $/d' >"$1/DEBIAN/control" <<END
Package: $2
Version: $VERSION
Architecture: $arch
Maintainer: gpufilter <gpufilter@localhost>
Section: $3
Priority: optional
Installed-Size: $(du -ks "$1" | cut -f1)
Depends: $4
Recommends: ${6:-}
Description: $5
$(cat)
END
    (cd "$1" && find usr -type f -exec md5sum {} +) >"$1/DEBIAN/md5sums"
    chmod -R u+rwX,go+rX,go-w "$1"
    dpkg-deb --root-owner-group -Z"${COMPRESSION:-xz}" --build "$1" "$BUILD/$2_${VERSION}_$arch.deb"
}

# The libraries that the program loads when it needs them, as LIBRARY=PACKAGE.
loaded=$(sed -n 's/^ *FORMATS ?= //p' "$BUILD-deb/config.mk" | tr ' ' '\n' | sed 's/.*://' | tr , '\n')
unknown=$(printf '%s\n' "$loaded" | grep -v = | paste -sd' ' -)
[ -z "$unknown" ] || echo "deb: no package is known that brings $unknown" >&2

printf '#!/bin/sh\nset -e\nldconfig\n' | tee "$root/DEBIAN/postinst" >"$root/DEBIAN/postrm"
chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/postrm"
control "$root" gpufilter graphics "$(needs)" "image filters on NVIDIA GPUs, and the same pictures without one" \
    "$({ printf '%s\n' "$loaded" | sed -n 's/.*=//p'; printf '%s\n' "$loaded" | sed -n 's/^libfreetype.*/fonts-dejavu-core/p'; } | list)" <<END
 A filter for PNG, JPEG, WebP, TIFF, AVIF and other pictures on the command line: blur, sharpen, resize, equalise and others, in
 chains, on single pictures, streams and batches, and the library that it is made of.
END
control "$dev" gpufilter-dev libdevel "gpufilter (= $VERSION), $(for package; do
    owners "$(pkg-config --variable=pcfiledir "$package")/$package.pc"
done | list)" "headers and static library of gpufilter" <<END
 What programs that filter pictures with libgpufilter are built with.
END
