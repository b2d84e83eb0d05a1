# Filters of shape and edges: what they say of hostile values. in.ppm is 77x55.
begin "elements and kernels name what is wrong"
while IFS='|' read -r chain message; do
    run 2 gpufilter -i in.ppm -o out.png "$chain"
    stderr_is "gpufilter: $message"
done <<'END'
dilate=251|dilate: rx=251 is outside 0..250 (columns of the element on either side of its middle)
dilate=1.5|dilate: rx=1.5 is not a whole number
erode=3:-2|erode: ry=-2 is outside -1..250 (rows of the element above and below its middle)
dilate=shape=1 1/1 1|dilate: shape is 2x2; both sides must be odd
erode=shape=0 0 0|erode: shape has no 1
erode=shape=0 1 2|erode: shape has 2; rows of 0 and 1 are needed
dilate=shape=1 -1 1|dilate: shape has -1, which is outside 0..4
dilate=shape=circle|dilate: shape=circle is none of rectangle, ellipse, cross, diamond or a matrix
morphology=thin|morphology: make=thin is none of open, close, tophat, blackhat, gradient
sobel=kernel=roberts|sobel: kernel=roberts is none of sobel, scharr, prewitt
canny=-1|canny: low=-1 is outside 0..1500
laplace=neighbours=5|laplace: neighbours=5 is none of 4, 8
emboss=400|emboss: angle=400 is outside -360..360
distance=0|distance: scale=0 is outside 0.001..65535 (steps of a sample for each pixel of distance)
morphology=open:shape=0|morphology: shape has no 1
END
absent out.png
