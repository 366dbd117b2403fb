/** What is deployed, as people read it: `1.2.0 until 2027-03-01`. */
import type { DeploymentView } from '../operations/versions.ts'

export const describeDeployed = ({
  versionLabel,
  expiresAt,
}: Pick<DeploymentView, 'versionLabel' | 'expiresAt'>): string =>
  expiresAt === null ? versionLabel : `${versionLabel} until ${expiresAt.slice(0, 10)}`
