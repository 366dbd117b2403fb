export declare const queryTypes: Readonly<Record<string, Readonly<Record<string, 'integer' | 'boolean'>>>>
