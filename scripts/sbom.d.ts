interface Component {
  readonly name: string
  readonly version: string
  readonly purl?: string
}
interface ComponentList {
  readonly components: readonly Component[]
}
/** The list with each library of the notices that it lacks. */
export function addBundled(list: ComponentList, notices: string): ComponentList
