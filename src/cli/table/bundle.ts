/** Commands that show, pack, verify and compare bundles. */
import type { CommandEntry } from '../shell/command.ts'
import { packAnswer, partsAnswer, treeAnswer, verifyAnswer } from '../answers/author.ts'
import { printsDocument } from '../answers/prints.ts'
import { bundleDifference } from '../answers/difference.ts'
import { failOn, sign } from './shared.ts'

export const bundleCommands: readonly CommandEntry[] = [
  {
    path: 'bundle tree',
    plane: 'offline',
    summary: 'the closure of a root agent: references, versions, digests',
    arguments: [{ name: '[bundle]', description: 'bundle, agent, archive or directory; the current one by default' }],
    examples: ['svc bundle tree', 'svc bundle tree bundle.yaml --json'],
    ...printsDocument(treeAnswer),
    exits: { 1: 'the bundle does not compile', 5: 'no document found' },
    load: async () => (await import('../commands/author/bundle.ts')).bundleTreeCommand,
  },
  {
    path: 'bundle pack',
    aliases: ['pack'],
    plane: 'offline',
    summary: 'write a bundle as one archive, the same bytes on every machine',
    arguments: [{ name: '[bundle]', description: 'bundle, agent, directory, or an archive to add a signature to' }],
    options: [{ flags: '-o, --output <file>', description: 'file to write; - writes to standard output' }, sign],
    examples: ['svc bundle pack', 'svc bundle pack -o refund.tgz --sign', 'svc bundle pack bundle.yaml -o -'],
    ...printsDocument(packAnswer),
    exits: { 1: 'the bundle does not compile, or contains a forbidden file', 5: 'no document found' },
    load: async () => (await import('../commands/author/bundle.ts')).bundlePack,
  },
  {
    path: 'bundle verify',
    plane: 'offline',
    summary: 'check an archive: digests, documents, closure',
    arguments: [{ name: '<file>', description: 'archive; - reads standard input' }],
    examples: ['svc bundle verify refund.tgz', 'svc bundle verify refund.tgz --json'],
    ...printsDocument(verifyAnswer),
    exits: { 1: 'the archive is damaged, or does not compile', 5: 'no such file' },
    load: async () => (await import('../commands/author/bundle.ts')).bundleVerify,
  },
  {
    path: 'bundle sbom',
    plane: 'offline',
    summary: 'list its agents, tools, models and MCP servers as CycloneDX',
    arguments: [{ name: '[bundle]', description: 'bundle, agent, archive or directory; the current one by default' }],
    options: [{ flags: '-o, --output <file>', description: 'file to write; standard output by default' }],
    examples: ['svc bundle sbom', 'svc bundle sbom refund.tgz -o refund.cdx.json'],
    ...printsDocument(partsAnswer),
    exits: { 1: 'the bundle does not compile', 5: 'no document found' },
    load: async () => (await import('../commands/author/bundle.ts')).bundleSbom,
  },
  {
    path: 'bundle diff',
    plane: 'offline',
    summary: 'show what one bundle may do that another could not',
    arguments: [{ name: '[bundles...]', description: 'two bundles, archives or directories; one with --against' }],
    options: [
      { flags: '--against <version>', description: 'a published version: namespace.name, or with @version' },
      {
        flags: '--format <format>',
        description: 'text by default, or the comment of a review',
        choices: ['text', 'markdown'],
      },
      failOn,
    ],
    examples: [
      'svc bundle diff before.tgz . --format markdown > comment.md',
      'svc bundle diff before.tgz . --fail-on breaking',
      'svc bundle diff --against acme.refund-desk@1.1.0 --fail-on breaking',
    ],
    ...printsDocument(bundleDifference),
    exits: { 1: 'breaking changes (--fail-on), or a bundle does not compile', 5: 'no document or version found' },
    load: async () => (await import('../commands/author/bundle-diff.ts')).bundleDiff,
  },
]
