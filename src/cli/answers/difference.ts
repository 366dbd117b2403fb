/** The authority difference, which `versions diff`, `bundle diff` and the plan of `publish` print. */
import type { VersionChange } from '../../authority/change.ts'
import type { FileChange } from '../../compile/diff/files.ts'
import {
  anyObject,
  anyValue,
  boolean,
  list,
  nullable,
  object,
  oneOf,
  optional,
  string,
  type TypedSchema,
} from '../../operations/schema.ts'

const changeSeverity = oneOf('patch', 'minor', 'major')

export const versionChangeSchema: TypedSchema<VersionChange> = object({
  kind: string,
  severity: changeSeverity,
  widens: boolean,
  agent: string,
  tool: optional(string),
  verdict: optional(string),
  witness: optional(
    object({ tool: string, arguments: anyValue, context: optional(anyObject), before: string, after: string }),
  ),
  from: anyValue,
  to: anyValue,
  path: nullable(string),
  say: string,
})

const difference = {
  breaking: boolean,
  widens: boolean,
  required: nullable(changeSeverity),
  changes: list(versionChangeSchema),
}

export const versionDifference = object(difference)

const changedFile: TypedSchema<FileChange> = object({
  path: string,
  change: oneOf('added', 'removed', 'changed'),
  from: nullable(string),
  to: nullable(string),
})

export const bundleDifference = object({ ...difference, files: optional(list(changedFile)) })
