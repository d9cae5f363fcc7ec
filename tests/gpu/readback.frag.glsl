void main()
{
  position_out = vec4(computed_position, 1.0);
  normal_out = vec4(computed_normal, 1.0);
}
