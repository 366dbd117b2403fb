/** `svc.config.yaml`. Source: docs/design/command-line.md#settings */
import type { ProjectConfig } from '../../spec/config.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import { createSpans } from '../text/document.ts'
import { decodeUtf8 } from '../text/decode.ts'
import { checkShape, hasShape } from './shape.ts'
import { readYaml } from '../text/yaml.ts'

export interface ReadConfig {
  /** Absent when there is an error among the findings. */
  readonly config?: ProjectConfig
  readonly findings: readonly Diagnostic[]
}

/** An empty file is an empty configuration. */
export function readConfig(text: string, path: string): ReadConfig {
  const { source, findings } = decodeUtf8({ path, text })
  if (source === undefined) return { findings }
  const reading = readYaml(source)
  findings.push(...reading.findings)
  if (reading.findings.length > 0) return { findings }
  const root = reading.roots[0]
  if (root === undefined || root.value === null) return { config: {}, findings }
  findings.push(...checkShape('config', createSpans(source, root)))
  // The shape check has proven the type.
  return hasShape('config', root.value) ? { config: root.value as ProjectConfig, findings } : { findings }
}
