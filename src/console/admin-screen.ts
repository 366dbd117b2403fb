/** Administration as a file of its own: who decides, or reads runs, does not open it. */
import './first.ts'
// Of other screens, too.
import './later.ts'

export { AdminScreen } from './views/admin/admin.tsx'
