/**
 * The step of the schema for people who sign in; for both databases. `email` is the type of an
 * address, which ignores the case of ASCII letters in SQLite.
 */
export function sessionTables(
  types: { readonly [Name in 'integer' | 'text' | 'bytes' | 'email']: string },
  end: string,
): string {
  const { integer, text, bytes, email } = types
  return `
  -- A person who proved an address in a browser; ended ones are removed.
  CREATE TABLE sessions (
    id ${text} NOT NULL PRIMARY KEY,
    hash ${bytes} NOT NULL UNIQUE CHECK (length(hash) = 32),
    email ${email} NOT NULL,
    -- The subscription that pays, where the person chose one of several.
    subscription_id ${text} REFERENCES subscriptions (id),
    created_at ${integer} NOT NULL,
    last_used_at ${integer} NOT NULL
  ) ${end};
  CREATE INDEX sessions_by_use ON sessions (last_used_at);

  -- What scripts of the portal show to /v1; they end with their session.
  CREATE TABLE session_secrets (
    hash ${bytes} NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    session_id ${text} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    subscription_id ${text} NOT NULL REFERENCES subscriptions (id),
    expires_at ${integer} NOT NULL
  ) ${end};
  CREATE INDEX secrets_of_session ON session_secrets (session_id, expires_at);
  CREATE INDEX session_secrets_by_end ON session_secrets (expires_at);
  `
}
