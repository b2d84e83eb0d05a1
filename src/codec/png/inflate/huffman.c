#include "codec/png/inflate/huffman.h"

#include <stdlib.h>

/* A leaf (a symbol that occurs) or an inner node with two children. */
struct node {
    uint32_t frequency;
    int16_t symbol;
    int16_t parent;
};

static int by_frequency(const void *a, const void *b)
{
    const struct node *const x = a, *const y = b;
    if (x->frequency != y->frequency)
        return x->frequency < y->frequency ? -1 : 1;
    return x->symbol - y->symbol;
}

/* Joins the two rarest nodes until one is left. The leaves are sorted by frequency, and inner nodes
 * are made in order of their frequency, so that the two rarest nodes are always at the front of
 * these two queues. */
static int build_tree(struct node *node, int leaves)
{
    int leaf = 0, inner = leaves, count = leaves;
    for (; count < 2 * leaves - 1; count++) {
        node[count] = (struct node){.symbol = -1, .parent = -1};
        for (int child = 0; child < 2; child++) {
            const int rarest =
                leaf < leaves && (inner == count || node[leaf].frequency <= node[inner].frequency)
                    ? leaf++
                    : inner++;
            node[rarest].parent = (int16_t)count;
            node[count].frequency += node[rarest].frequency;
        }
    }
    return count;
}

/* Shortens the codes that are too long. of_length is the number of codes of each length; codes
 * longer than `longest` count as `longest`. Shorter codes are lengthened until all codes fit. */
static void bound_lengths(int *of_length, int longest)
{
    uint32_t taken = 0; /* the part of the 1 << longest codes that is used */
    for (int length = 1; length <= longest; length++)
        taken += (uint32_t)of_length[length] << (longest - length);
    while (taken > 1u << longest) {
        int length = longest - 1;
        while (!of_length[length])
            length--;
        /* Two codes of the next length replace a code of this length. One of them replaces a code
         * of the greatest length, which becomes free. */
        of_length[length]--;
        of_length[length + 1] += 2;
        of_length[longest]--;
        taken--;
    }
}

void gf_huffman_lengths(const uint32_t *frequency, int symbols, int longest, uint8_t *lengths)
{
    struct node node[2 * GF_HUFFMAN_SYMBOLS];
    uint8_t depth[2 * GF_HUFFMAN_SYMBOLS];
    int of_length[GF_HUFFMAN_LONGEST + 1] = {0};
    int leaves = 0;
    for (int s = 0; s < symbols; s++) {
        lengths[s] = 0;
        if (frequency[s])
            node[leaves++] = (struct node){frequency[s], (int16_t)s, -1};
    }
    qsort(node, (size_t)leaves, sizeof *node, by_frequency);
    const int count = build_tree(node, leaves);
    if (count < 1)
        return; /* no symbol occurs */
    depth[count - 1] = 0;
    for (int i = count - 2; i >= 0; i--) {
        const int deep = depth[node[i].parent] + 1;
        depth[i] = (uint8_t)(deep > 255 ? 255 : deep);
        if (i < leaves)
            of_length[deep < longest ? deep : longest]++;
    }
    bound_lengths(of_length, longest);
    for (int length = longest, i = 0; length >= 1; length--)
        for (int n = of_length[length]; n; n--)
            lengths[node[i++].symbol] = (uint8_t)length;
}

static uint16_t reversed(uint32_t code, int length)
{
    uint32_t bits = 0;
    for (int i = 0; i < length; i++)
        bits |= (code >> i & 1) << (length - 1 - i);
    return (uint16_t)bits;
}

void gf_huffman_codes(const uint8_t *lengths, int symbols, uint16_t *codes)
{
    uint32_t next[GF_HUFFMAN_LONGEST + 2] = {0};
    for (int s = 0; s < symbols; s++)
        next[lengths[s] + 1] += lengths[s] != 0;
    for (int length = 1; length <= GF_HUFFMAN_LONGEST; length++)
        next[length] = length == 1 ? 0 : (next[length - 1] + next[length]) << 1;
    for (int s = 0; s < symbols; s++)
        codes[s] = lengths[s] ? reversed(next[lengths[s]]++, lengths[s]) : 0;
}
