/** Signed publications and deployments from the command line to the store, and what is checked without a server. */
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isFailure } from '../../src/base/failure.ts'
import { readArchive, writeArchive } from '../../src/compile/package/archive.ts'
import { readEnvelope, writeEnvelope } from '../../src/spec/trust/dsse.ts'
import { readTrustDocument, type TrustDocument } from '../../src/spec/trust/trust-document.ts'
import { TrustProblem } from '../../src/spec/trust/trust-problem.ts'
import { openPublication } from '../../src/spec/trust/verify-signed.ts'
import { verifySignedArchive } from '../../src/cli/trust/verify-bundle.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { newKeyPair, trustValue } from '../spec/trust/makers.ts'
import { svc as runSvc, temporary, type Ran } from './recording-io.ts'

const EXAMPLE = resolve(import.meta.dirname, '../../examples/refund')
const AGENT = 'acme.refund-desk'
const NOW = Date.UTC(2026, 10, 30)
const { path: parent, remove } = temporary()
afterAll(remove)

let cwd = ''
let count = 0
const clock = { now: () => NOW, monotonic: () => 0 }
const env = { XDG_CONFIG_HOME: join(parent, 'user') }
const svc = (...argv: readonly string[]): Promise<Ran> => runSvc(argv, { cwd, env, clock })

async function good(...argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await svc(...argv)
  if (code !== 0) throw new Error(`${argv.join(' ')}: ${code}\n${stdout}${stderr}`)
  return stdout
}
const json = async <T>(...argv: readonly string[]): Promise<T> => JSON.parse(await good(...argv, '--json')) as T

/** Code of the failure, and what is said after it. */
async function refused(...argv: readonly string[]): Promise<string> {
  const { code, stderr } = await svc(...argv)
  return `${code} ${stderr.split('\n').find((line) => /refused|revision|replaces|signed|Nothing/.test(line)) ?? stderr}`
}

/** Keys of people as PEM; `ci` is one of OpenSSH. */
const KEYS = ['ana', 'bo', 'eve'] as const
beforeAll(() => {
  for (const name of KEYS) {
    const { privateKey } = generateKeyPairSync('ed25519')
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' })
    writeFileSync(join(parent, `${name}.pem`), pem, { mode: 0o600 })
  }
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ci', '-f', join(parent, 'ci')])
})
const keyOf = (name: string): string => join(parent, name === 'ci' ? 'ci' : `${name}.pem`)

async function shop(): Promise<void> {
  cwd = join(parent, `shop${count++}`)
  cpSync(EXAMPLE, cwd, { recursive: true })
}

const line = async (name: string): Promise<string> => (await good('trust', 'key', keyOf(name))).trim()

async function writeTrustFile(version = 1, spec = '', roots = '{threshold: 2, keys: [ana, bo]}'): Promise<void> {
  const keys = await Promise.all(
    ['ana', 'bo', 'ci'].map(async (name) => `    - {id: ${name}, ssh: "${await line(name)}"}`),
  )
  writeFileSync(
    join(cwd, 'trust.yaml'),
    `apiVersion: svc/v1
kind: Trust
metadata: {name: acme, version: ${version}, expires: 2027-11-01}
spec:
  roots: ${roots}
  people:
    - {id: ana@acme.example, keys: [ana]}
    - {id: bo@acme.example, keys: [bo]}
  keys:
${keys.join('\n')}
  grants:
    - {who: [ci], may: [publish], in: "acme.*"}
    - {who: [ana, bo], may: [deploy], in: "acme.*", count: 2, when: widens}
  require: {publication: signed, deployment: signed}
${spec}`,
  )
}

async function installTrust(...signers: readonly string[]): Promise<void> {
  for (const name of signers) await good('trust', 'sign', '--sign', keyOf(name))
  await good('trust', 'install')
}

function countAttestations(): number {
  const db = connectSqlite(join(cwd, '.svc', 'data.db'), { readonly: true })
  const { n } = db.prepare<[], { n: number }>('select count(*) as n from attestation').get()!
  db.close()
  return n
}

/** The limit of the policy, and the versions that this takes. */
function raiseTo(version: string, limit: string, before: { version: string; limit: string }): void {
  for (const file of ['policies/refund-limit.yaml', 'agents/refund-desk.yaml']) {
    const path = join(cwd, file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(
      path,
      text
        .replace(`version: ${before.version}`, `version: ${version}`)
        .replace(`value: ${before.limit}`, `value: ${limit}`),
    )
  }
}

describe('from nothing to a roll-back', () => {
  beforeAll(shop)

  test('without a trust document nothing changes, and a signature is kept', async () => {
    await good('publish', '--deploy', '--allow-widen')
    expect(await svc('trust', 'show')).toMatchObject({ code: 0, stdout: '' })
    expect(await json('trust', 'show')).toEqual({ installed: null })
    const answer = await json<{ published: { already: boolean }[] }>('publish', '--sign', keyOf('ci'))
    expect(answer.published.every(({ already }) => already)).toBe(true)
    expect(await refused('deploy', `${AGENT}@1.0.0`, '--sign', keyOf('ana'))).toContain('no trust document')
  })

  test('a document is installed once the threshold of its roots has signed it', async () => {
    await writeTrustFile()
    expect(await good('trust', 'sign', '--sign', keyOf('ana'))).toContain('1 of 2 signatures')
    expect(await refused('trust', 'install')).toBe(
      '4 error[trust_refused]: The trust document is refused at the check of its grant: 1 of the 2 roots that acme@1 asks for signed it.',
    )
    expect((await svc('trust', 'sign', '--sign', keyOf('eve'))).stderr).toContain('is no root of acme@1')
    expect(await good('trust', 'sign', '--sign', keyOf('bo'))).toContain('2 of 2 signatures')
    expect(await good('trust', 'install', '--message', 'begin')).toMatch(/^installed acme@1 {2}sha256:[0-9a-f]{64}\n$/)
    expect(await good('trust', 'show')).toContain('2 of ana, bo')
    expect(await good('log', 'acts', '--json')).toContain('"trust.installed"')
  })

  test('what was signed before is good for it now', async () => {
    expect(await good('verify', `${AGENT}@1.0.0`)).toMatch(/^acme\.refund-desk@1\.0\.0 {2}ok {2}signed by ci\nsha256:/)
  })

  test('nothing is published unsigned, by a stranger, or by somebody without the grant', async () => {
    raiseTo('2.0.0', '250', { version: '1.0.0', limit: '100' })
    const publish = ['publish', '--allow-widen'] as const
    expect(await refused(...publish)).toContain('at the check of its envelope: nobody signed it')
    expect(await refused(...publish, '--deploy')).toContain('at the check of its envelope: nobody signed it')
    expect(await refused(...publish, '--sign', keyOf('eve'))).toContain(
      'at the check of its key: nobody knows the key SHA256:',
    )
    expect(await refused(...publish, '--sign', keyOf('ana'))).toMatch(
      /check of its grant: nothing lets ana@acme.example publish acme\./,
    )
    expect(await good('versions', 'list', AGENT)).not.toContain('2.0.0')
    await good(...publish, '--sign', keyOf('ci'))
    expect(await good('verify', `${AGENT}@2.0.0`)).toContain('signed by ci')
  })

  test('what is published already may be published again by anybody, since nothing changes', async () => {
    expect(await good('publish', '--allow-widen')).toContain('already published')
  })

  test('wider authority takes two people to deploy: one prepares, the other signs too', async () => {
    const deploy = ['deploy', `${AGENT}@2.0.0`, '--yes'] as const
    expect(await refused(...deploy)).toContain('at the check of its envelope: nobody signed it')
    expect(await refused(...deploy, '--sign', keyOf('ana'))).toContain('takes the signatures of 2 people, and 1 signed')
    expect(await refused(...deploy, '--sign', keyOf('ci'))).toContain(`nothing lets ci deploy ${AGENT}`)
    expect(await good(...deploy, '--sign', keyOf('ana'), '--prepare', 'd.dsse.json')).toBe(
      `d.dsse.json  deployment 1 of ${AGENT}@2.0.0; nothing is deployed\n`,
    )
    expect(await good(...deploy, '--statement', 'd.dsse.json', '--sign', keyOf('bo'))).toContain('1.0.0 → 2.0.0')
  })

  test('a statement that was used is refused, and going back is a new one', async () => {
    const back = ['deploy', AGENT, '--rollback', '--yes'] as const
    expect(await refused(...back)).toContain('nobody signed it')
    expect(await good(...back, '--sign', keyOf('bo'), '--message', 'too generous')).toContain('2.0.0 → 1.0.0')
    expect(
      await refused('deploy', `${AGENT}@2.0.0`, '--yes', '--statement', 'd.dsse.json', '--sign', keyOf('bo')),
    ).toContain('Somebody else signed revision 1, and it is 3 now.')
    const acts = await good('log', 'acts', '--json')
    expect(acts).toContain('"version.rolled_back"')
    expect(acts).toContain('"signers":["ana","bo"]')
    expect(await good('verify', `${AGENT}@1.0.0`)).toContain('ok')
  })

  test('a deployment may end, and to prolong it takes a signature', async () => {
    const deploy = ['deploy', `${AGENT}@1.0.0`, '--yes'] as const
    expect(await refused(...deploy, '--expires', '30d')).toContain('nobody signed it')
    const signed = ['--sign', keyOf('bo')] as const
    expect(await good(...deploy, '--expires', '30d', ...signed)).toContain('until 2026-12-30T00:00:00.000Z')
    const { items } = await json<{ items: readonly { expiresAt: string }[] }>('agents', 'history', AGENT)
    expect(items[0]?.expiresAt).toBe('2026-12-30T00:00:00.000Z')
    expect(await good(...deploy, '--expires', '2027-03-01', ...signed, '--prepare', 'e.dsse.json')).toContain(
      'deployment 4',
    )
    expect(await refused(...deploy, '--expires', '2028-03-01', '--statement', 'e.dsse.json', ...signed)).toContain(
      'Somebody else signed expires',
    )
    expect(await refused(...deploy, '--expires', 'never')).toContain('nobody signed it')
    expect(await good(...deploy, '--expires', 'never', ...signed)).not.toContain('until')
  })

  test('a newer document takes the threshold of the old one, and an older one is refused', async () => {
    const old = readFileSync(join(cwd, 'trust.dsse.json'))
    await writeTrustFile(2, '', '{threshold: 1, keys: [ci]}')
    await good('trust', 'sign', '--sign', keyOf('ci'))
    expect(await refused('trust', 'install')).toContain('0 of the 2 roots that acme@1 asks for signed it')
    await writeTrustFile(2)
    await good('trust', 'sign', '--sign', keyOf('ana'))
    expect(await refused('trust', 'install')).toContain('1 of the 2 roots that acme@2 asks for signed it')
    await installTrust('bo')
    writeFileSync(join(cwd, 'old.dsse.json'), old)
    expect(await refused('trust', 'install', 'old.dsse.json')).toContain(
      'its version 1 is not above 2, which is installed',
    )
    expect(await refused('trust', 'install')).toContain('its version 2 is not above 2, which is installed')
  })

  test('an export has what was signed, and the check of it finds each signature', async () => {
    await good('audit', 'export', 'audit.tar')
    const counts = await json<{ ok: boolean; signed: number; setup: number }>('audit', 'verify', 'audit.tar')
    const kept = countAttestations()
    // The first was kept when nobody said whose signature counts.
    expect([counts.ok, counts.signed]).toEqual([true, kept - 1])
    await good('audit', 'export', 'bare.tar', '--without-content')
    expect(await json('audit', 'verify', 'bare.tar')).toMatchObject({ ok: true, signed: 0, setup: 0 })
  })

  test('what was altered in the database no longer passes', async () => {
    expect(await good('verify', `${AGENT}@2.0.0`)).toContain('ok')
    const db = connectSqlite(join(cwd, '.svc', 'data.db'), {})
    // Who can write the database can drop what guards it.
    db.prepare('drop trigger version_is_final').run()
    const change = db.prepare(`update version set snapshot = replace(snapshot, :from, :to) where label = '2.0.0'`)
    const afterChange = async (from: string, to: string): Promise<string> => {
      expect(change.run({ from, to }).changes).toBe(1)
      const { code, stdout } = await svc('verify', `${AGENT}@2.0.0`)
      expect(change.run({ from: to, to: from }).changes).toBe(1)
      return `${code} ${stdout}`
    }
    expect([
      await afterChange('"purpose":"', '"purpose":"Not: '),
      // In a policy, which the digest of a snapshot has by its digest only.
      await afterChange(':250', ':999'),
    ]).toEqual([
      expect.stringMatching(/^1 digest: Agent acme\.refund-desk@2\.0\.0 sha256:[0-9a-f]{64} was not signed\n$/),
      `1 digest: the policies of ${AGENT}@2.0.0 are not those that were signed\n`,
    ])
    db.close()
    expect(await good('verify', `${AGENT}@2.0.0`)).toContain('ok')
    const again = connectSqlite(join(cwd, '.svc', 'data.db'), {})
    again.prepare('drop trigger trust_document_is_final').run()
    again
      .prepare(
        `update trust_document set envelope = (select envelope from trust_document where version = 1) where version = 2`,
      )
      .run()
    again.close()
    expect(await refused('trust', 'show')).toContain('the stored one is not the one that was installed')
  })
})

describe('an archive', () => {
  let bytes: Uint8Array
  let trust: TrustDocument
  const check = async (given: Uint8Array): Promise<string> => {
    try {
      await verifySignedArchive(given, trust, NOW)
      return 'passed'
    } catch (error) {
      if (error instanceof TrustProblem) return error.step
      throw error
    }
  }

  beforeAll(async () => {
    await shop()
    const pair = newKeyPair()
    writeFileSync(join(parent, 'pair.pem'), pair.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
    trust = readTrustDocument(trustValue({ ana: pair }))
    await good('bundle', 'pack', '-o', 'refund.tgz', '--sign', join(parent, 'pair.pem'))
    bytes = readFileSync(join(cwd, 'refund.tgz'))
  })

  test('is checked without a server, by whom its reader trusts', async () => {
    await writeTrustFile()
    await good('bundle', 'pack', '-o', 'ci.tgz', '--sign', keyOf('ci'))
    const answer = await json<Record<string, unknown>>('verify', 'ci.tgz', '--trust', 'trust.yaml')
    expect(answer).toEqual({
      ok: true,
      name: `${AGENT}@1.0.0`,
      closure: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      signers: ['ci'],
      problem: null,
    })
    const { code, stdout } = await svc('verify', 'refund.tgz', '--json')
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { ok: false, problem: { step: 'key' } }])
    await good('bundle', 'pack', '-o', 'plain.tgz')
    expect(await svc('verify', 'plain.tgz')).toMatchObject({ code: 1, stdout: 'envelope: nobody signed it\n' })
  })

  test('is the same archive whoever signs it, and a second signature is added to it', async () => {
    const before = await readArchive(bytes)
    await good('bundle', 'pack', 'refund.tgz', '-o', 'both.tgz', '--sign', keyOf('bo'))
    const after = await readArchive(readFileSync(join(cwd, 'both.tgz')))
    expect([after.digest, after.attestations.length]).toEqual([before.digest, 2])
    expect(after.attestations).toEqual(expect.arrayContaining([...before.attestations]))
  })

  test('of 250 changed bytes each is refused', async () => {
    expect(await check(bytes)).toBe('passed')
    const steps: Record<string, number> = {}
    let state = 20_261_130
    for (let at = 0; at < 250; at++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      const changed = Buffer.from(bytes)
      changed[state % changed.length]! ^= 1 << (at % 8)
      const step = await check(changed)
      steps[step] = (steps[step] ?? 0) + 1
    }
    expect(steps).toEqual({ archive: 250 })
    // The beginning of a gzip has no checksum: readers pass over it.
    const time = Buffer.from(bytes)
    time[5]! ^= 1
    expect(gunzipSync(time).equals(gunzipSync(bytes))).toBe(true)
    expect(await check(time)).toBe('archive')
  })

  test('of 250 bytes that are changed in its parts, with all else made to fit, each is refused by name', async () => {
    const archive = await readArchive(bytes)
    const [envelope = ''] = archive.attestations
    const paths = [...archive.files.keys()].filter((path) => archive.files.get(path)!.length > 0)
    const steps: Record<string, number> = {}
    let passing = 0
    for (let at = 0; at < 250; at++) {
      const files = new Map([...archive.files].map(([path, body]) => [path, Buffer.from(body)]))
      let attestation = envelope
      if (at % 2 === 0) {
        const body = files.get(paths[at % paths.length]!)!
        body[(at * 7919) % body.length]! ^= 1 << (at % 7)
      } else {
        const { payload, signatures } = readEnvelope(envelope)
        const target = at % 4 === 1 ? payload : signatures[0]!.signature
        target[(at * 7919) % target.length]! ^= 1 << (at % 8)
        attestation = writeEnvelope({ payload, signatures })
      }
      const packed = await writeArchive({ root: archive.root, files, attestations: [attestation] })
      const step = await check(packed.bytes)
      steps[step] = (steps[step] ?? 0) + 1
      // The same without the last check: what would pass if digests were not compared.
      passing += wouldPass([attestation]) ? 1 : 0
    }
    expect(steps).toEqual({ digest: 125, signature: 125 })
    expect(passing).toBe(125)
  })

  const wouldPass = (envelopes: readonly string[]): boolean => {
    try {
      openPublication(
        envelopes.map((envelope) => ({ envelope, at: NOW })),
        trust,
      )
      return true
    } catch {
      return false
    }
  }

  test('names an attestation as its content, and takes no member with such a name', async () => {
    const { root, files, attestations } = await readArchive(bytes)
    const name = `attestations/${'0'.repeat(16)}.dsse.json`
    const packed = await writeArchive({ root, files: new Map([...files, ['x.txt', Buffer.from('x')]]), attestations })
    expect((await readArchive(packed.bytes)).attestations).toEqual(attestations)
    const failed = await writeArchive({ root, files: new Map([...files, [name, Buffer.from('x')]]) }).catch(
      (error: unknown) => isFailure(error, 'bundle_invalid') && error.message,
    )
    expect(failed).toBe(`${name} is the name of an attestation, and no member of a bundle.`)
  })

  test('that was signed is published where signatures are required', async () => {
    await shop()
    await writeTrustFile()
    await installTrust('ana', 'bo')
    await good('bundle', 'pack', '-o', 'ci.tgz', '--sign', keyOf('ci'))
    await good('bundle', 'pack', '-o', 'plain.tgz')
    expect(await refused('publish', 'plain.tgz', '--allow-widen')).toContain('nobody signed it')
    expect(await good('publish', 'ci.tgz', '--allow-widen')).toContain(`published ${AGENT}@1.0.0`)
  })
})

describe('keys', () => {
  beforeAll(shop)

  test('come from the option, the environment, or git', async () => {
    execFileSync('git', ['init', '-q', cwd])
    const ask = (more: Readonly<Record<string, string>>) =>
      runSvc(['trust', 'key'], { cwd, env: { ...env, ...more }, clock })
    expect((await ask({})).stderr).toContain('No key is named to sign with.')
    execFileSync('git', ['-C', cwd, 'config', 'gpg.format', 'ssh'])
    execFileSync('git', ['-C', cwd, 'config', 'user.signingkey', `${keyOf('ci')}.pub`])
    expect((await ask({})).stdout.trim()).toBe(await line('ci'))
    expect((await ask({ SVC_SIGN_KEY: keyOf('ana') })).stdout.trim()).toBe(await line('ana'))
    await good('bundle', 'pack', '-o', 'git.tgz', '--sign')
    const [envelope = ''] = (await readArchive(readFileSync(join(cwd, 'git.tgz')))).attestations
    expect(execFileSync('ssh-keygen', ['-l', '-f', keyOf('ci')]).toString()).toContain(
      readEnvelope(envelope).signatures[0]!.keyId,
    )
  })

  test('that others may read, or of another kind, are refused', async () => {
    writeFileSync(join(parent, 'open.pem'), readFileSync(keyOf('ana')), { mode: 0o644 })
    expect((await svc('trust', 'key', join(parent, 'open.pem'))).stderr).toContain('others may read it: chmod 600')
    writeFileSync(join(cwd, 'text'), 'no key', { mode: 0o600 })
    expect((await svc('trust', 'key', 'text')).stderr).toContain('it is no private key of Ed25519 in PEM')
    execFileSync('ssh-keygen', ['-q', '-t', 'ecdsa', '-N', '', '-f', join(parent, 'ecdsa')])
    expect((await svc('bundle', 'pack', '-o', 'x.tgz', '--sign', join(parent, 'ecdsa'))).stderr).toContain(
      'keys of Ed25519',
    )
  })
})

test('svc trust check names what does nothing, and lint says what of it concerns the documents', async () => {
  await shop()
  await writeTrustFile()
  expect(await svc('trust', 'check')).toMatchObject({ code: 0 })
  expect((await svc('lint')).stdout).not.toContain('trust.yaml')
  const path = join(cwd, 'trust.yaml')
  const text = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    text
      .replace('version: 1, expires: 2027-11-01', 'version: 1, expires: 2026-11-01')
      .replace('who: [ci], may: [publish]', 'who: [ci, zoe], may: [publish, deploy]')
      .replace(
        '{who: [ana, bo], may: [deploy], in: "acme.*", count: 2',
        '{who: [ana, "role:lead"], may: [deploy], in: "acme.*", count: 2',
      ),
  )
  expect((await svc('lint')).stdout).toContain('By trust.yaml, ci can publish and deploy acme.refund-desk alone.')
  const { code, stdout } = await svc('trust', 'check')
  expect(code).toBe(1)
  expect(stdout.split('\n').map((each) => each.replace(/^trust\.yaml:\d+:\d+ /, ''))).toEqual([
    'error The document expired at 2026-11-01T00:00:00.000Z: nothing signed is taken. trust/expired',
    'error Nobody is called zoe. trust/unusable-grant',
    'error Nobody has the role lead. trust/unreachable-role',
    'warning ci can publish and deploy acme.* alone. trust/no-separation',
    'acme@1  3 errors, 1 warning',
    '',
  ])
  writeFileSync(path, text.replace('id: ci, ssh', 'id: ci, ssl'))
  expect((await svc('trust', 'check')).stderr).toMatch(
    /trust\.yaml:12: \/spec\/keys\/2\/ssl is no member that svc knows\./,
  )
  expect(await svc('lint')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(
      '/spec/keys/2/ssl is no member that svc knows. svc trust check says more.',
    ) as string,
  })
})
