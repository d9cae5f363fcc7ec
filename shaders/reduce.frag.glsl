/* The mean of the pixels that a pixel covers; colours count by their alpha, so that edges on nothing do not darken. */
void main()
{
  ivec2 first = ivec2(gl_FragCoord.xy) * OVERSAMPLING;
  vec4 sum = vec4(0.0);
  for (int y = 0; y < OVERSAMPLING; y++) {
    for (int x = 0; x < OVERSAMPLING; x++) {
      vec4 texel = texelFetch(fine, first + ivec2(x, y), 0);
      sum += vec4(texel.rgb * texel.a, texel.a);
    }
  }
  colour = vec4(sum.rgb / max(sum.a, 1.0 / 255.0), sum.a / float(OVERSAMPLING * OVERSAMPLING));
}
