const float SMALLEST = 1e-6;
const float OUTLINE_PX = 1.5;
/* A shield stands as good as at the viewer's eye. */
const float NEAREST = 0.9999;

void main()
{
  int instance = this_instance();
  vec3 moved;
  vec3 turned;
  posed_vertex(instance, moved, turned);
  vec4 in_view = view.view_from_world * vec4(transformed(instance + RECORD_WORLD_FROM_ARMATURE, vec4(moved, 1.0)), 1.0);
  vec3 in_world = transformed(instance + RECORD_WORLD_FROM_ARMATURE_NORMAL, vec4(turned, 0.0));
  view_position = in_view.xyz;
  view_normal = (view.view_from_world * vec4(in_world, 0.0)).xyz;
  vec4 tint = row(instance + RECORD_TINT);
  vec4 traits = row(instance + RECORD_TRAITS);
  bool is_tinted = traits.y == 1.0;
  handedness = traits.x;
  base = vec4(zone, is_tinted ? tint.a : 1.0);
  /* A ghost has no material of its own. */
  header = (is_tinted || drawing.y != PASS_SHADED) ? -1 : material * MATERIAL_ROWS;
  object_colour = row(instance + RECORD_COLOUR);
#ifdef PAINTED
  uv_maps = uv;
  painted = paint;
#endif
  if (is_tinted || drawing.y == PASS_OUTLINE || drawing.y == PASS_WIREFRAME) {
    base.rgb = tint.rgb;
  }
  heat = weight_of(whole_numbers(row(instance + RECORD_BONES)).w);
  if (drawing.y == PASS_WIREFRAME) {
    in_view = nearer(in_view);
  }
  gl_Position = view.clip_from_view * in_view;
  if (drawing.y == PASS_SHIELD) {
    gl_Position.z = -NEAREST * gl_Position.w;
  }
  if (drawing.y == PASS_OUTLINE) {
    /* Grown along the normals by so many pixels: what is then drawn over it leaves an edge. */
    vec2 outwards = (view.clip_from_view * vec4(view_normal, 0.0)).xy * view.size.xy;
    gl_Position.xy += OUTLINE_PX * 2.0 * outwards / max(length(outwards), SMALLEST) / view.size.xy * gl_Position.w;
  }
}
