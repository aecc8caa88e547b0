const memories: Array<{ clear(): void }> = [];

/** Registers what this process of n8n remembers from one execution to the next, and loses when it ends. */
export function processMemory<Memory extends { clear(): void }>(memory: Memory): Memory {
	memories.push(memory);
	return memory;
}

/** Forgets all of it, as a restart would. */
export const clearProcessMemory = (): void => memories.forEach((memory) => memory.clear());
