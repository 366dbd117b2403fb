/** What the schema cannot say of `providers` in the project file. Source: docs/design/gate.md#the-agent */
import { pointerTo } from '../../base/json/pointer.ts'
import type { ProjectConfig } from '../../spec/config.ts'
import { EXTERNAL_PROVIDER } from '../../spec/external.ts'
import { createFinding, type Diagnostic } from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'

/** An entry of this name would have no effect, and its author would rely on it. */
export const checkProviders = (file: DocumentSpans, providers: ProjectConfig['providers'] = {}): Diagnostic[] =>
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
