/** Reads values of others member by member: what is not named is refused, so that nothing is signed that nobody reads. */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { ownMember } from '../../base/json/own-member.ts'
import { pointerTo } from '../../base/json/pointer.ts'

/** A value has another shape than it should. */
export class ShapeFault extends Error {
  override readonly name = 'ShapeFault'
  /** JSON pointer to the value. */
  readonly pointer: string
  /** @param why follows the pointer: `must be a text` */
  constructor(pointer: string, why: string) {
    super(why)
    this.pointer = pointer
  }
}

/** A value with its place, and readers for what it may be. Each throws `ShapeFault`. */
export interface ShapeReader {
  readonly pointer: string
  readonly value: JsonValue | undefined
  /** @param optional members that may be absent; none but these and `required` may be there */
  record<R extends string, O extends string = never>(
    required: readonly R[],
    optional?: readonly O[],
  ): Readonly<Record<R | O, ShapeReader>>
  list(most: number): readonly ShapeReader[]
  text(most?: number): string
  integer(least: number, most: number): number
  boolean(): boolean
  oneOf<T extends string>(...words: readonly T[]): T
  /** Undefined where the value is absent. */
  optional<T>(read: (reader: ShapeReader) => T): T | undefined
  orNull<T>(read: (reader: ShapeReader) => T): T | null
  fault(why: string): ShapeFault
}

const MOST_CHARACTERS = 1000

export function readShape(value: JsonValue | undefined, pointer = ''): ShapeReader {
  const fault = (why: string): ShapeFault => new ShapeFault(pointer, why)
  const reader: ShapeReader = {
    pointer,
    value,
    record<R extends string, O extends string>(required: readonly R[], optional: readonly O[] = []) {
      if (!isJsonObject(value)) throw fault('must be an object')
      const names: readonly string[] = [...required, ...optional]
      const absent = required.find((name) => !Object.hasOwn(value, name))
      if (absent !== undefined) throw fault(`must have the member ${absent}`)
      const unknown = Object.keys(value).find((name) => !names.includes(name))
      if (unknown !== undefined) throw new ShapeFault(pointerTo(pointer, unknown), 'is no member that svc knows')
      // The cast holds: each name of the two lists has its reader.
      return Object.fromEntries(
        names.map((name) => [name, readShape(ownMember(value, name), pointerTo(pointer, name))]),
      ) as Record<R | O, ShapeReader>
    },
    list(most) {
      if (!Array.isArray(value)) throw fault('must be a list')
      if (value.length > most) throw fault(`must have at most ${most} items`)
      return value.map((each, index) => readShape(each, pointerTo(pointer, String(index))))
    },
    text(most = MOST_CHARACTERS) {
      if (typeof value !== 'string' || value === '') throw fault('must be a text')
      if (value.length > most) throw fault(`must have at most ${most} characters`)
      return value
    },
    integer(least, most) {
      if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most)
        throw fault(`must be a whole number from ${least} to ${most}`)
      return value
    },
    boolean() {
      if (typeof value !== 'boolean') throw fault('must be true or false')
      return value
    },
    oneOf(...words) {
      const found = words.find((word) => word === value)
      if (found === undefined) throw fault(`must be ${words.join(' or ')}`)
      return found
    },
    optional: (read) => (value === undefined ? undefined : read(reader)),
    orNull: (read) => (value === null ? null : read(reader)),
    fault,
  }
  return reader
}
