/* The end of a bone, moved by that bone as an instance of its character is. */
void main()
{
  int record = instance * RECORD_ROWS;
  ivec4 how = whole_numbers(row(record + RECORD_BONES));
  int first_row = how.x + bone * how.y;
  vec3 moved = rotate(row(first_row), stretch_position(first_row, how.y > 2, position)) + row(first_row + 1).xyz;
  vec3 in_world = transformed(record + RECORD_WORLD_FROM_ARMATURE, vec4(moved, 1.0));
  gl_Position = view.clip_from_view * nearer(view.view_from_world * vec4(in_world, 1.0));
}
