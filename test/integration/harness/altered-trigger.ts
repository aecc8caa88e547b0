import { alteredService, type AlteredService } from './altered-service';
import { startTrigger } from './webhook-trigger';
import { replaceTrigger, sandbox, trigger } from './watched-trigger';

/** The trigger of each test gets its answers by way of a service that the test alters. */
export function useAlteredService(): AlteredService {
	const service = alteredService(sandbox, true);
	beforeEach(async () => {
		await trigger.close();
		replaceTrigger(await startTrigger({ credential: service.credential, parameters: { events: ['contact.created'] } }));
	});
	return service;
}
