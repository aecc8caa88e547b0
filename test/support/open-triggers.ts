import type { IDataObject } from 'n8n-workflow';

import type { useSandbox } from './sandbox';
import { startTrigger, type TestTrigger } from './webhook-trigger';

/** @returns starts a trigger and activates it; after each test it is deactivated and closed */
export function useTriggers(sandbox: ReturnType<typeof useSandbox>) {
	const open: TestTrigger[] = [];

	afterEach(async () => {
		for (const trigger of open.splice(0)) {
			await trigger.deactivate();
			await trigger.close();
		}
	});

	return async (parameters: IDataObject, workflowId?: string): Promise<TestTrigger> => {
		const trigger = await startTrigger({
			credential: sandbox.credential,
			parameters: parameters as TestTrigger['parameters'],
			...(workflowId !== undefined && { workflowId }),
		});
		open.push(trigger);
		await trigger.activate();
		return trigger;
	};
}
