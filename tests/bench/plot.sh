#!/bin/sh
# Draws a table as an SVG: a line for each row, a dot for each series, a logarithmic axis.
# Usage: plot.sh TITLE UNIT <TABLE; a line of the table is "row TAB series TAB value".
set -eu
# shellcheck disable=SC2016 # awk's own dollars
awk -F '\t' -v title="$1" -v unit="$2" '
function at(value) { return left + width * (log(value) - low) / (high - low) }
function escape(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); return text }
function text(x, y, anchor, size, what) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" fill=\"#333\">%s</text>\n", x, y, anchor, size, escape(what)
}
$3 > 0 {
    if (!($1 in row)) { row[$1] = rows++; rowname[rows - 1] = $1 }
    if (!($2 in series)) { series[$2] = many++; seriesname[many - 1] = $2 }
    n++; r[n] = row[$1]; s[n] = series[$2]; v[n] = $3 + 0
    if (n == 1 || v[n] < least) least = v[n]
    if (n == 1 || v[n] > most) most = v[n]
}
END {
    split("#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9", colours, " ") # told apart by the colour-blind, too
    left = 250; width = 520; top = 62; step = 24; bottom = top + rows * step
    low = log(least) - 0.15; high = log(most) + 0.15
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 %d\" font-family=\"sans-serif\">\n", bottom + 40
    printf "<rect width=\"800\" height=\"%d\" fill=\"#fff\"/>\n", bottom + 40
    text(12, 22, "start", 15, title)
    x = left
    for (i = 0; i < many; i++) {
        printf "<circle cx=\"%.1f\" cy=\"40\" r=\"5\" fill=\"%s\"/>\n", x, colours[i % 6 + 1]
        text(x + 10, 44, "start", 12, seriesname[i])
        x += 30 + 7.2 * length(seriesname[i])
    }
    for (decade = -4; decade <= 7; decade++) {
        for (k = 1; k <= 5; k += k == 1 ? 1 : 3) {
            tick = k * exp(decade * log(10))
            if (log(tick) < low || log(tick) > high) continue
            printf "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#ddd\"/>\n", at(tick), top - 8, at(tick), bottom
            text(at(tick), bottom + 16, "middle", 11, sprintf("%.6g", tick))
        }
    }
    text(left + width / 2, bottom + 33, "middle", 12, unit)
    for (i = 0; i < rows; i++) {
        text(left - 14, top + i * step + 12, "end", 12, rowname[i])
        printf "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#eee\"/>\n", left, top + i * step + 8, left + width, top + i * step + 8
    }
    for (i = n; i >= 1; i--)
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/>\n", at(v[i]), top + r[i] * step + 8, colours[s[i] % 6 + 1]
    print "</svg>"
}'
