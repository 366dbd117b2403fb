/** `svc.config.yaml`. Source: docs/design/command-line.md#settings */
import type { ProjectConfig } from '../../spec/project/config.ts'
import { validate } from '../generated/validators/config.js'
import { type Diagnostic, createFinding } from '../text/diagnostic.ts'
import { createSpans, type DocumentSpans } from '../text/document.ts'
import { decodeUtf8 } from '../text/decode.ts'
import { checkNotify } from './check-notify.ts'
import { readYaml } from '../text/yaml.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import { EXTERNAL_PROVIDER } from '../../spec/external.ts'

export interface ReadConfig {
  /** Absent when there is an error among the findings. */
  readonly config?: ProjectConfig
  readonly findings: readonly Diagnostic[]
}

/** An empty file is an empty configuration. */
export async function readConfig(text: string, path: string): Promise<ReadConfig> {
  const { source, findings } = decodeUtf8({ path, text })
  if (source === undefined) return { findings }
  const reading = readYaml(source)
  findings.push(...reading.findings)
  if (reading.findings.length > 0) return { findings }
  const root = reading.roots[0]
  if (root === undefined || root.value === null) return { config: {}, findings }
  const spans = createSpans(source, root)
  if (!validate(root.value)) {
    // Half of what reads a configuration explains one that is wrong.
    const { shapeFindings } = await import('./shape-findings.ts')
    findings.push(...shapeFindings('config', spans, validate.errors ?? []))
    return { findings }
  }
  // The shape check has proven the type.
  const config = root.value as ProjectConfig
  const faults = [
    ...checkProviders(spans, config.providers),
    ...(config.notify ? checkNotify(spans, config.notify) : []),
  ]
  findings.push(...faults)
  return faults.length > 0 ? { findings } : { config, findings }
}

/** An entry of this name would have no effect, and its author would rely on it. */
const checkProviders = (file: DocumentSpans, providers: ProjectConfig['providers'] = {}): Diagnostic[] =>
  Object.hasOwn(providers, EXTERNAL_PROVIDER)
    ? [
        createFinding(
          'doc/schema',
          'error',
          file.placeOf(pointerTo('/providers', EXTERNAL_PROVIDER)),
          `providers.${EXTERNAL_PROVIDER} has no effect: \`provider: ${EXTERNAL_PROVIDER}\` stands for a client, and no model is asked.`,
          { fix: 'Give the provider another name.' },
        ),
      ]
    : []
