/** The step of the schema for the versions of datasets, in the order of their publication. */
export function versionsTable(integer: string, text: string, end: string): string {
  return `
  CREATE TABLE dataset_versions (
    dataset ${text} NOT NULL,
    number ${integer} NOT NULL,
    version ${text} NOT NULL,
    -- The version that it replaced; NULL for the first one.
    previous ${text},
    as_of ${text},
    rows ${integer} NOT NULL,
    published_at ${integer} NOT NULL,
    PRIMARY KEY (dataset, number)
  ) ${end};
  `
}

/** The step of the schema that keeps what became of the changes of each version. */
export function versionChanges(text: string): string {
  return `
  -- From \`previous\`: 'ready', 'none', or NULL while nothing is known.
  ALTER TABLE dataset_versions ADD COLUMN changes ${text};
  -- Why there are none.
  ALTER TABLE dataset_versions ADD COLUMN changes_reason ${text};
  `
}
