import { digestOfJson } from '../../base/digest.ts'
import type { Diagnostic } from '../text/diagnostic.ts'

/** Names a fault; it stays the same while lines above it come and go. 64 hexadecimal digits. */
export const fingerprintFinding = ({ rule, path, pointer, message }: Diagnostic): string =>
  digestOfJson([rule, path, pointer, message]).slice('sha256:'.length)
