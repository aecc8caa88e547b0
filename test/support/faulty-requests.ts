import { forward } from '../contract/forward.ts';
import { startLocalServer, type LocalServer } from './local-server.ts';
import type { TestSandbox } from './sandbox.ts';

/** What interrupts a run, or happens meanwhile, and the number of the request that it precedes. */
interface Fault {
	at: number;
	type: string;
	/** Whether only requests from the first deletion on count. */
	fromDeletion?: boolean;
}

/** A way to a sandbox on which requests and answers can be lost. */
export function useFaultyRequests(sandbox: TestSandbox) {
	let proxy: LocalServer;
	let count = 0;
	let planned: Fault | undefined;
	let happen: () => Promise<void>;
	beforeAll(async () => {
		proxy = await startLocalServer((request, response) => {
			const { at, type, fromDeletion = false } = planned ?? { at: Infinity, type: '' };
			const isDeletion = request.method === 'DELETE' || request.url!.endsWith('/batch/delete');
			const number = fromDeletion && count === 0 && !isDeletion ? -1 : count++;
			if (type === 'killed' ? number >= at : type === 'dropped' && number === at) return void request.socket.destroy();
			const isLost = number === at && type === 'answer lost';
			const passOn = () => forward(request, response, sandbox.url, {}, isLost ? () => request.socket.destroy() : undefined);
			if (number === at && !isLost) void happen().then(passOn);
			else passOn();
		});
	});
	afterAll(async () => await proxy.close());

	return {
		credential: () => ({ ...sandbox.credential, baseUrl: proxy.url }),

		/** From now on, requests are counted. @param meanwhile what happens before the request if the fault is none of requests */
		plan(fault: Fault, meanwhile: () => Promise<void>): void {
			[count, planned, happen] = [0, fault, meanwhile];
		},
	};
}
