/** Reads how tools of an imported API are sent, from the file that the import wrote. */
import { readFileSync, statSync } from 'node:fs'
import { isJsonObject, parseJson } from '../../base/json/json.ts'
import { OPERATION_RECORD_VERSION, type OperationRecord } from '../../spec/project/operation-record.ts'

/** Largest file: operations of 1,000 tools with their documents take about 10 MB. */
const MAX_BYTES = 64 * 1024 * 1024

/** The file cannot be used. The message says why, and does not name it. */
export class OperationRecordError extends Error {
  override readonly name = 'OperationRecordError'
}

/** @throws OperationRecordError */
export function readOperationRecord(path: string): OperationRecord {
  let value: unknown
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
    value = parseJson(readFileSync(path, 'utf8'), { maxLevels: 256, maxValues: Infinity })
  } catch (error) {
    throw new OperationRecordError((error as Error).message, { cause: error })
  }
  if (!isOperationRecord(value))
    throw new OperationRecordError(`it is no record of an import with \`svcImport: ${OPERATION_RECORD_VERSION}\``)
  return value
}

const TOOL_ID = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/

function isOperationRecord(value: unknown): value is OperationRecord {
  if (!isJsonObject(value) || value['svcImport'] !== OPERATION_RECORD_VERSION) return false
  const { operations, securitySchemes, written } = value
  return (
    isJsonObject(operations) &&
    isJsonObject(securitySchemes) &&
    isJsonObject(written) &&
    // An import writes a document where the id says.
    Object.keys(operations).every((id) => TOOL_ID.test(id)) &&
    Object.values(operations).every(isOperation)
  )
}

/** A path may have neither a query nor a backslash, which an address reads as a slash. */
const isOperation = (value: unknown): boolean =>
  isJsonObject(value) &&
  typeof value['method'] === 'string' &&
  /^[A-Z]+$/.test(value['method']) &&
  typeof value['path'] === 'string' &&
  /^\/[^?#\\]*$/.test(value['path']) &&
  Array.isArray(value['parameters']) &&
  value['parameters'].every((each) => isJsonObject(each) && typeof each['argument'] === 'string')
