const float SMALLEST = 1e-6;

void main()
{
  vec3 moved;
  vec3 turned;
  posed_vertex(moved, turned);
  vec3 in_world = (object.world_from_armature * vec4(moved, 1.0)).xyz + role_offset.xyz;
  vec4 in_view = view.view_from_world * vec4(in_world, 1.0);
  view_position = in_view.xyz;
  view_normal = (view.view_from_world * vec4((object.world_from_armature_normal * vec4(turned, 0.0)).xyz, 0.0)).xyz;
  base_colour = (role_choice.x == PICTURE_ZONES) ? zone : surface;
  heat = (role_choice.x == PICTURE_WEIGHTS) ? weight_of(role_choice.z) : 0.0;
  gl_Position = view.clip_from_view * in_view;
  if (role_choice.x == PICTURE_OUTLINE) {
    /* Grown along the normals by so many pixels: what is then drawn over it leaves an edge. */
    vec2 outwards = (view.clip_from_view * vec4(view_normal, 0.0)).xy * view.size.xy;
    gl_Position.xy += role_offset.w * 2.0 * outwards / max(length(outwards), SMALLEST) / view.size.xy * gl_Position.w;
  }
}
