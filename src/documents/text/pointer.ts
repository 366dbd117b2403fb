import { segmentsOf } from '../../base/json/pointer.ts'

/** A pointer as people write paths: `spec.tools[0].ref` for `/spec/tools/0/ref`. */
export const formatPointer = (pointer: string): string =>
  segmentsOf(pointer)
    .map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${segment}`))
    .join('')
    .replace(/^\./, '')
