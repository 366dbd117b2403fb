/** A step into a value: a member, an element, or every element (`[*]`). */
export type PathSegment = { readonly key: string } | { readonly index: number } | { readonly each: true }
