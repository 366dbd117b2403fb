import type { RuntimeOptions } from '../../server/runtime/options.ts'
import { packageVersion } from '../shell/version.ts'
import { lazyDocuments } from './lazy-documents.ts'
import type { Project } from './project.ts'

/** What every server of a project gets, whether it listens or not. */
export const projectServerOptions = ({
  workspace,
  config,
  directory,
}: Project): Pick<RuntimeOptions, 'workspace' | 'config' | 'configDirectory' | 'version' | 'documents'> => ({
  workspace,
  config,
  configDirectory: directory,
  version: packageVersion,
  documents: lazyDocuments,
})
