/* How much of a large lamp overhead each place of the floor misses, from how high what stands over it is: the higher,
 * the softer (after Fernando 2005, Percentage-closer soft shadows). Red: height of the lowest; alpha: whether there is
 * any. */
const int TAPS = 24;
const float GOLDEN_RAD = 2.39996323;
const float SEARCH_M = 0.28;
const float SPREAD = 0.45;
const float SHARPEST_M = 0.03;
const float DARKEST = 0.62;
const float OUT_OF_REACH_M = 0.9;

/* Each place looks about in other directions than its neighbours do, so that no pattern shows (Jimenez 2014). */
float turned_here()
{
  return 6.2831853 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
}

vec2 tap(int number)
{
  float along = sqrt((float(number) + 0.5) / float(TAPS));
  float turn = float(number) * GOLDEN_RAD + turned_here();
  return along * vec2(cos(turn), sin(turn));
}

void main()
{
  vec2 size = vec2(textureSize(heights, 0));
  vec2 here = gl_FragCoord.xy / size;
  vec2 m = texels_per_m / size;
  vec2 seen = vec2(0.0);
  for (int number = 0; number < TAPS; number++) {
    vec4 texel = texture(heights, here + tap(number) * SEARCH_M * m);
    seen += vec2(max(texel.r, 0.0), 1.0) * texel.a;
  }
  if (seen.y == 0.0) {
    colour = vec4(0.0);
    return;
  }
  float height = seen.x / seen.y;
  float radius = SHARPEST_M + SPREAD * min(height, OUT_OF_REACH_M);
  float hidden = 0.0;
  for (int number = 0; number < TAPS; number++) {
    vec4 texel = texture(heights, here + tap(number) * radius * m);
    hidden += texel.a * (1.0 - 0.75 * clamp(texel.r / OUT_OF_REACH_M, 0.0, 1.0));
  }
  colour = vec4(DARKEST * hidden / float(TAPS), 0.0, 0.0, 1.0);
}
