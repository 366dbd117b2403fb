import { digestOfJson } from '../../base/digest.ts'
import type { Diagnostic } from '../text/diagnostic.ts'

/** Identifies a fault independently of its line number. 64 hexadecimal digits. */
export const fingerprintFinding = ({ rule, path, pointer, message }: Diagnostic): string =>
  digestOfJson([rule, path, pointer, message]).slice('sha256:'.length)
