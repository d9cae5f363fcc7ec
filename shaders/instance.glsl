/* Instances: what changes from one picture to the next, as rows of the texture `rows`. preview/instances.py writes it.
 *
 * The record of an instance: two matrices with what turns normals where they turn points, each three rows;
 * RECORD_TINT: a colour and its alpha; RECORD_BONES: the row where its palette begins, how many rows
 * each bone takes, the method of skinning, the bone whose weights show; RECORD_TRAITS: -1 where it is
 * mirrored, 1 elsewhere, then whether the tint takes the place of its own colour; RECORD_COLOUR: the object's. */
vec4 row(int number)
{
  return texelFetch(rows, ivec2(number % ROWS_WIDTH, number / ROWS_WIDTH), 0);
}

ivec4 whole_numbers(vec4 values)
{
  return ivec4(floor(values + vec4(0.5)));
}

/* The product of the matrix whose rows begin there. */
vec3 transformed(int matrix, vec4 vector)
{
  return vec3(dot(row(matrix), vector), dot(row(matrix + 1), vector), dot(row(matrix + 2), vector));
}
