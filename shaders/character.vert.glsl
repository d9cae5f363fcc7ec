void main()
{
  vec3 moved;
  vec3 turned;
  posed_vertex(moved, turned);
  vec4 in_view = drawing.view_from_armature * vec4(moved, 1.0);
  view_position = in_view.xyz;
  view_normal = (drawing.view_from_armature_normal * vec4(turned, 0.0)).xyz;
  base_colour = (drawing.choice.x == PICTURE_ZONES) ? zone : surface;
  gl_Position = drawing.clip_from_view * in_view;
}
