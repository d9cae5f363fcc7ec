/* What is over is fainter than what is to come. */
const float OVER = 0.3;

void main()
{
  vec3 low = tint.rgb * 12.92;
  vec3 high = 1.055 * pow(max(tint.rgb, vec3(0.0)), vec3(1.0 / 2.4)) - 0.055;
  vec3 encoded = mix(high, low, vec3(lessThan(tint.rgb, vec3(0.0031308))));
  colour = vec4((view.size.z == 1.0) ? encoded : tint.rgb, tint.a * ((since_s < 0.0) ? OVER : 1.0));
}
