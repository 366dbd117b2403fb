export const EXTERNAL: string[]
