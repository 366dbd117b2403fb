/** What stands where there is nothing to show: not yet, nothing, or not reachable. */
import { safeText } from '../../base/text/escape-text.ts'
import type { RequestError } from '../wire/request.ts'
import type { Resource } from '../wire/resource.ts'
import type { Child, View } from './view.ts'
import { Icon, type IconName } from './icon.tsx'

export const EmptyState = ({
  icon,
  title,
  isScreen = false,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  /** Nothing else is on the screen, so this is its heading. */
  readonly isScreen?: boolean
  readonly children?: Child
}): View => (
  <div class="empty">
    <Icon name={icon} />
    {isScreen ? <h1 class="empty-title">{title}</h1> : <p class="empty-title">{title}</p>} {children}
  </div>
)

export const ErrorNote = ({ error }: { readonly error: RequestError | undefined }): View | null =>
  error ? (
    <p class="note bad" role="alert">
      <Icon name="warning" />
      <span>{safeText(error.message)}</span>
    </p>
  ) : null

/** The shape of what is being read. */
export const Loading = ({ rows = 6 }: { readonly rows?: number | undefined }): View => (
  <div class="loading" role="status" aria-label="Reading">
    {Array.from({ length: rows }, (_, at) => (
      <i key={at} />
    ))}
  </div>
)

/** What stands in the place of a value that was not read yet, or cannot be. */
export const showUnread = ({ error }: Pick<Resource<unknown>, 'error'>, rows?: number): View =>
  error ? <ErrorNote error={error} /> : <Loading rows={rows} />
