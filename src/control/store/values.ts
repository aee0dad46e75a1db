/** Values by their `@name` in the statement; bytes come back as a Buffer. */
export type Values = Readonly<Record<string, string | number | null | Uint8Array>>
