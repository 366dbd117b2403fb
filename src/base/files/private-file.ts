/** Files that only their owner may read: whole and durable, or as they were. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory } from './make-directory.ts'

let drafts = 0

/** Replaces a file of mode 0600; what is missing of its directory is made with 0700. Durable when it returns. */
export function replacePrivateFile(path: string, text: string): void {
  const directory = dirname(path)
  makeDirectory(directory, 0o700)
  const draft = `${path}.${process.pid}-${drafts++}`
  try {
    writeDurably(draft, text)
    renameSync(draft, path)
    syncDirectory(directory)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Windows syncs no directories. */
function syncDirectory(path: string): void {
  if (process.platform === 'win32') return
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
