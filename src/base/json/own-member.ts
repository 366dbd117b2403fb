/**
 * The member of a record by a name from outside; undefined where the record itself has none: a name such as `constructor` must
 * not find what every object inherits.
 */
export const ownMember = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined
