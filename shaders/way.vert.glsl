/* Ways and footprints lie in the axes of the character that leaves them. */
void main()
{
  tint = colour_in;
  since_s = when_s - now_s;
  gl_Position = view.clip_from_view * nearer(view.view_from_world * (world_from_model * vec4(position, 1.0)));
}
