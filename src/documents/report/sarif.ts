import type { Diagnostic, FindingPlace } from '../text/diagnostic.ts'
import { rules } from '../rules/index.ts'
import { fingerprintFinding } from './fingerprint.ts'

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const

/** SARIF 2.1.0. Rules that found nothing are left out. */
export function reportSarif(findings: readonly Diagnostic[]): string {
  const names = [...new Set(findings.map(({ rule }) => rule))]
  const log = {
    version: '2.1.0',
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    runs: [
      {
        tool: { driver: { name: 'svc', rules: names.map(describe) } },
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => ({
          ruleId: finding.rule,
          ruleIndex: names.indexOf(finding.rule),
          level: LEVELS[finding.severity],
          message: {
            text: finding.fix === undefined ? finding.message : `${finding.message} ${finding.fix.description}`,
          },
          locations: [location(finding)],
          partialFingerprints: { 'svcFault/v1': fingerprintFinding(finding) },
          ...(finding.related.length > 0 && {
            relatedLocations: finding.related.map((each, id) => ({
              id,
              ...location(each),
              message: { text: each.message },
            })),
          }),
        })),
      },
    ],
  }
  return `${JSON.stringify(log)}\n`
}

function describe(name: string): object {
  const rule = rules.find((each) => each.name === name)
  return {
    id: name,
    ...(rule && {
      shortDescription: { text: rule.law },
      help: { text: `${rule.fix} See: svc explain ${name}` },
      defaultConfiguration: { level: LEVELS[rule.severity] },
    }),
  }
}

function location({ path, range: { start, end } }: Pick<FindingPlace, 'path' | 'range'>): object {
  return {
    physicalLocation: {
      artifactLocation: { uri: path.split('/').map(encodeURIComponent).join('/') },
      region: {
        startLine: start.line,
        startColumn: start.column,
        endLine: end.line,
        endColumn: end.column,
        charOffset: start.offset,
        charLength: end.offset - start.offset,
      },
    },
  }
}
