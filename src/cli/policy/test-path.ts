/** True for a file that holds policy tests. */
export const isPolicyTest = (path: string): boolean => /\.policytest\.ya?ml$/.test(path)
