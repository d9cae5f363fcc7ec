/* Lines lie a little nearer to the viewer than the surface they run along, which would hide them. */
const float NEARER = 0.002;

vec4 nearer(vec4 in_view)
{
  bool perspective = view.clip_from_view[2][3] != 0.0;
  in_view.xyz += perspective ? -NEARER * in_view.xyz : vec3(0.0, 0.0, NEARER / view.clip_from_view[1][1]);
  return in_view;
}
