export declare function compiledFile(file: string, folder?: string, to?: string): string;
export declare function compileTests(folder?: string, to?: string): Promise<void>;
