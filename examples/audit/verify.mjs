#!/usr/bin/env node
// A second verifier of svc audit export, written without svc: node verify.mjs FILE [EARLIER]
// It reads the tar, checks every line of acts.jsonl, and exits with 1 at the first that is not as it was recorded.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/** JSON with sorted keys and no space (RFC 8785): of texts, whole numbers, booleans and nulls it is JSON.stringify. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}

/** The text of one file of a tar: headers of 512 bytes, each followed by its content in blocks of 512. */
function fileOf(tar, wanted) {
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const name = tar
      .subarray(at, at + 100)
      .toString()
      .split('\0', 1)[0]
    const size = Number.parseInt(tar.subarray(at + 124, at + 136).toString(), 8)
    if (!(size >= 0)) break
    if (name === wanted) return tar.subarray(at + 512, at + 512 + size).toString()
    at += 512 + Math.ceil(size / 512) * 512
  }
  throw new Error(`There is no ${wanted}.`)
}

/** Hashes of all acts, in order. Throws at the first that is wrong. */
function verify(path) {
  const hashes = []
  let head = '0'.repeat(64)
  const lines = fileOf(readFileSync(path), 'acts.jsonl').split('\n')
  if (lines.pop() !== '') throw new Error('The last line is cut off.')
  for (const line of lines) {
    const { content, salt, hash, ...record } = JSON.parse(line)
    const number = hashes.length + 1
    if (record.seq !== number) throw new Error(`Act ${number} is missing.`)
    if (content !== null && sha256(`${salt}\n${content}`) !== record.contentDigest)
      throw new Error(`The content of act ${number} is not the one that was recorded.`)
    if (sha256(`${head}\n${canonical(record)}`) !== hash)
      throw new Error(`Act ${number} is not the one that was recorded.`)
    head = hash
    hashes.push(hash)
  }
  return hashes
}

const [, , file, earlier] = process.argv
try {
  if (file === undefined) throw new Error('node verify.mjs FILE [EARLIER]')
  const hashes = verify(file)
  const known = earlier === undefined ? [] : verify(earlier)
  const at = known.findIndex((hash, index) => hashes[index] !== hash)
  if (at >= 0) throw new Error(`Act ${at + 1} of the earlier export is not there, or another one.`)
  console.log(`${hashes.length} acts, head ${hashes.at(-1) ?? 'none'}`)
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
