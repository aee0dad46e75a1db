/** The step of the schema for agents that signed in. */
export const connectionTables = `
  -- An agent that signed in. It ends with its token.
  CREATE TABLE connections (
    id TEXT NOT NULL PRIMARY KEY,
    -- NULL: made with the public demo token.
    subscription_id TEXT REFERENCES subscriptions (id),
    token_id TEXT REFERENCES tokens (id),
    -- By a mailed code: then the token was the newest of the subscription, and was not shown.
    made_by TEXT NOT NULL CHECK (made_by IN ('token', 'mail')),
    demo_hash BLOB CHECK (length(demo_hash) = 32),
    client_id TEXT NOT NULL,
    client_name TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- When the agent took its first secrets; NULL until then.
    connected_at INTEGER,
    last_used_at INTEGER,
    ended_at INTEGER,
    end_reason TEXT CHECK (end_reason IN ('revoked', 'replayed', 'disconnected', 'displaced')),
    CHECK ((subscription_id IS NULL) = (token_id IS NULL)),
    CHECK ((subscription_id IS NULL) = (demo_hash IS NOT NULL)),
    CHECK ((ended_at IS NULL) = (end_reason IS NULL))
  ) STRICT;

  CREATE INDEX connections_of_subscription ON connections (subscription_id, created_at);
  CREATE INDEX connections_of_token ON connections (token_id);

  CREATE TABLE connection_secrets (
    hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    connection_id TEXT NOT NULL REFERENCES connections (id),
    kind TEXT NOT NULL CHECK (kind IN ('code', 'access', 'refresh')),
    -- Only of a code: what its verifier must hash to.
    code_challenge TEXT,
    -- Only of a refresh token: the one that it replaced.
    parent BLOB,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    -- Only of a refresh token: when one that replaced it was first used.
    followed_at INTEGER,
    CHECK ((kind = 'code') = (code_challenge IS NOT NULL))
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX secrets_of_connection ON connection_secrets (connection_id, kind, created_at);
  CREATE INDEX secrets_by_end ON connection_secrets (expires_at);

  -- Only in a letter about a connection; NULL once the connection is removed.
  ALTER TABLE letters ADD COLUMN connection_id TEXT
    REFERENCES connections (id) ON DELETE SET NULL;
  CREATE INDEX letters_of_connection ON letters (connection_id) WHERE connection_id IS NOT NULL;
  CREATE INDEX connection_letters ON letters (subscription_id, created_at)
    WHERE kind = 'connection-made';
  `
