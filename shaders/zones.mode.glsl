/* A colour for each bone, blended by weight. */
vec3 zones_colour(vec3 n)
{
  return base.rgb;
}
