import Type from 'typebox'
import type { Static } from 'typebox'

const count = Type.Integer({ minimum: 0 })

/** A message from the packing process to the server. */
export const FromPackerSchema = Type.Union([
  Type.Object({
    kind: Type.Literal('progress'),
    progress: Type.Object({
      stage: Type.Union([
        Type.Literal('sorting'),
        Type.Literal('writing'),
        Type.Literal('verifying'),
        Type.Literal('indexing'),
      ]),
      rowsDone: count,
      rows: count,
    }),
  }),
  Type.Object({
    kind: Type.Literal('done'),
    files: Type.Array(Type.Object({ path: Type.String(), rows: count })),
  }),
  Type.Object({
    kind: Type.Literal('failed'),
    message: Type.String(),
    /** The class of the error: FileError (with its path), PackError, or another. */
    error: Type.Union([Type.Literal('file'), Type.Literal('pack'), Type.Literal('other')]),
    path: Type.String(),
  }),
])

export type FromPacker = Static<typeof FromPackerSchema>
