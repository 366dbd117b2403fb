/** Keys with which people and pipelines sign. Source: docs/design/trust.md#keys */
import { spawn } from 'node:child_process'
import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fail, type Failure } from '../../base/failure.ts'
import { signalWithin } from '../../base/signal-within.ts'
import { preAuthEncoding, writeEnvelope, type DsseSignature } from '../../spec/trust/dsse.ts'
import {
  keyOfSshSignature,
  readSigningKey,
  SSH_NAMESPACE,
  toSigningKey,
  type SigningKey,
} from '../../spec/trust/signing-key.ts'
import { readUserFile } from '../files/read-file.ts'
import type { CommandContext } from '../shell/command.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import { readGit } from './git-source.ts'

/** What `--sign` without a key says. */
export const DEFAULT_KEY = 'default'

export interface Signer {
  /** Signs as DSSE wants it: its type and length before the content. */
  sign(payload: Buffer): Promise<DsseSignature>
  publicKey(): Promise<SigningKey>
}

/** Enough for a person to find and touch a hardware key, or to type a passphrase. */
const SIGN_MS = 120_000
const MAX_OUTPUT = 64 * 1024

type SignContext = Pick<CommandContext, 'io' | 'cwd' | 'signal'>

/**
 * The key of `--sign`, of `SVC_SIGN_KEY`, or with which git signs commits.
 * @throws Failure `usage` where there is none, `file_missing`, `file_unusable`
 */
export async function openSigner(call: SignContext, given: string): Promise<Signer> {
  if (given !== DEFAULT_KEY) return await openKeyFile(call, resolve(call.cwd, given))
  const named = call.io.env['SVC_SIGN_KEY']
  if (named) return await openKeyFile(call, resolve(call.cwd, named))
  const ofGit =
    (await readGit(call.cwd, 'config', 'gpg.format')) === 'ssh'
      ? await readGit(call.cwd, 'config', 'user.signingkey')
      : undefined
  if (ofGit === undefined)
    throw usageFailure('No key is named to sign with.', '--sign KEY, SVC_SIGN_KEY, or user.signingkey of git (ssh)')
  const line = ofGit.replace(/^key::/, '')
  if (/^(?:sk-)?ssh-/.test(line)) return sshSigner(call, { line })
  return await openKeyFile(call, resolve(call.cwd, line.replace(/^~(?=\/)/, homedir())))
}

const unusable = (path: string, why: string): Failure => fail('file_unusable', { path, doing: 'used as a key', why })

async function openKeyFile(call: SignContext, path: string): Promise<Signer> {
  const text = (await readUserFile(path)).toString()
  // ssh-keygen asks an agent for the private half of a public key, and looks at who may read a private one.
  if (/^(?:-----BEGIN OPENSSH PRIVATE KEY-----|(?:sk-)?ssh-)/.test(text)) return sshSigner(call, { path })
  const privateKey = await readPrivateKey(path, text)
  const key = toSigningKey(createPublicKey(privateKey))
  return {
    publicKey: async () => key,
    sign: async (payload) => ({
      keyId: key.fingerprint,
      signature: sign(null, preAuthEncoding(payload), privateKey),
    }),
  }
}

/** A private key of Ed25519 in PEM that nobody else may read. @throws Failure `file_unusable` */
export async function readPrivateKey(path: string, text: string): Promise<KeyObject> {
  if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0)
    throw unusable(path, 'others may read it: chmod 600')
  try {
    const privateKey = createPrivateKey(text)
    if (privateKey.asymmetricKeyType === 'ed25519') return privateKey
  } catch {
    // Not a key at all: the same words.
  }
  throw unusable(path, 'it is no private key of Ed25519 in PEM')
}

/** A key of OpenSSH: a file, or the public half of one that an agent holds. */
function sshSigner(call: SignContext, from: { readonly path: string } | { readonly line: string }): Signer {
  const withPath = <T>(work: (path: string) => Promise<T>): Promise<T> =>
    'path' in from ? work(from.path) : withPublicKeyFile(from.line, work)
  return {
    publicKey: () =>
      withPath(async (path) => {
        const text = (await readUserFile(path)).toString()
        const line = readSigningKey(text) ? text : await runSshKeygen(call, path, ['-y', '-f', path], '')
        return expectEd25519(path, readSigningKey(line))
      }),
    sign: (payload) =>
      withPath(async (path) => {
        const args = ['-Y', 'sign', '-q', '-n', SSH_NAMESPACE, '-f', path]
        const armored = await runSshKeygen(call, path, args, preAuthEncoding(payload))
        const signature = Buffer.from(armored.replace(/-----[^\n]*-----/g, ''), 'base64')
        return { keyId: expectEd25519(path, keyOfSshSignature(signature)).fingerprint, signature }
      }),
  }
}

function expectEd25519(path: string, key: SigningKey | undefined): SigningKey {
  if (key === undefined) throw unusable(path, 'svc signs with keys of Ed25519: ssh-keygen -t ed25519, or ed25519-sk')
  return key
}

async function withPublicKeyFile<T>(line: string, work: (path: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-sign-'))
  try {
    const path = join(directory, 'key.pub')
    await writeFile(path, `${line}\n`, { mode: 0o600 })
    return await work(path)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** It asks for passphrases and touches on the terminal itself. */
function runSshKeygen(
  { signal, io }: SignContext,
  path: string,
  args: readonly string[],
  input: string | Buffer,
): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn('ssh-keygen', args, {
      env: { ...process.env, ...io.env },
      signal: signalWithin(SIGN_MS, signal),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let [output, complaint] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(0, MAX_OUTPUT)))
    child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(0, MAX_OUTPUT)))
    child.on('error', (error) =>
      failed(
        (error as NodeJS.ErrnoException).code === 'ENOENT'
          ? usageFailure(
              'Keys of OpenSSH sign with ssh-keygen, which is not there.',
              'Install OpenSSH, or use a PEM key',
            )
          : unusable(path, 'ssh-keygen did not sign in time'),
      ),
    )
    child.on('close', (code) => {
      if (code === 0) return done(output)
      failed(unusable(path, complaint.trim().split('\n').at(-1) || `ssh-keygen ended with ${code}`))
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

/** An envelope with one more signature. @param others that are there already; an earlier one of the same key is replaced */
export async function addSignature(
  signer: Signer,
  payload: Buffer,
  others: readonly DsseSignature[] = [],
): Promise<string> {
  const added = await signer.sign(payload)
  const kept = others.filter(({ keyId }) => keyId !== added.keyId)
  return writeEnvelope({ payload, signatures: [...kept, added] })
}
