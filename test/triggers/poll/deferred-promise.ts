export interface DeferredPromise {
	promise: Promise<unknown>;
	resolve(value: unknown): void;
	reject(error: Error): void;
}

/** The helper of this name that n8n gives to nodes. */
export function createDeferredPromise(): DeferredPromise {
	const settle = {} as Pick<DeferredPromise, 'resolve' | 'reject'>;
	const promise = new Promise((resolve, reject) => Object.assign(settle, { resolve, reject }));
	return { promise, ...settle };
}
