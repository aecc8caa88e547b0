/** The patterns of a country's phone numbers, addresses and places. */
export interface Country {
	code: string;
	language: string;
	timezone: string;
	currency: string;
	/**
	 * Hashes become digits. The ranges belong to no real phone: reserved for fiction where the country
	 * has such a range (Ofcom, BNetzA, ARCEP, PTS, ACMA, NANPA), otherwise unassigned.
	 */
	phone: string;
	postalCode: string;
	street: string;
	legalForm: string;
	/** Cities with their state or region. */
	cities: ReadonlyArray<readonly [string, string]>;
}

export const countries: readonly Country[] = [
	{
		code: 'DE',
		language: 'de',
		timezone: 'Europe/Berlin',
		currency: 'EUR',
		phone: '+493023125###',
		postalCode: '#####',
		street: 'Lindenstraße #',
		legalForm: 'GmbH',
		cities: [
			['Berlin', 'Berlin'],
			['Hamburg', 'Hamburg'],
			['München', 'Bayern'],
			['Köln', 'Nordrhein-Westfalen'],
			['Leipzig', 'Sachsen'],
		],
	},
	{
		code: 'ES',
		language: 'es',
		timezone: 'Europe/Madrid',
		currency: 'EUR',
		phone: '+34555######',
		postalCode: '28###',
		street: 'Calle Mayor #',
		legalForm: 'S.L.',
		cities: [
			['Madrid', 'Madrid'],
			['Barcelona', 'Cataluña'],
			['Sevilla', 'Andalucía'],
			['Valencia', 'Comunidad Valenciana'],
			['Bilbao', 'País Vasco'],
		],
	},
	{
		code: 'FR',
		language: 'fr',
		timezone: 'Europe/Paris',
		currency: 'EUR',
		phone: '+33199000###',
		postalCode: '75###',
		street: '# rue de la République',
		legalForm: 'SAS',
		cities: [
			['Paris', 'Île-de-France'],
			['Lyon', 'Auvergne-Rhône-Alpes'],
			['Nantes', 'Pays de la Loire'],
			['Lille', 'Hauts-de-France'],
			['Toulouse', 'Occitanie'],
		],
	},
	{
		code: 'GB',
		language: 'en-GB',
		timezone: 'Europe/London',
		currency: 'GBP',
		phone: '+442079460###',
		postalCode: 'SW1A #AA',
		street: '# Station Road',
		legalForm: 'Ltd',
		cities: [
			['London', 'England'],
			['Manchester', 'England'],
			['Leeds', 'England'],
			['Edinburgh', 'Scotland'],
			['Cardiff', 'Wales'],
		],
	},
	{
		code: 'US',
		language: 'en-US',
		timezone: 'America/New_York',
		currency: 'USD',
		phone: '+121255501##',
		postalCode: '#####',
		street: '# Main Street',
		legalForm: 'Inc.',
		cities: [['New York', 'NY'], ['Austin', 'TX'], ['Chicago', 'IL'], ['Seattle', 'WA'], ['Denver', 'CO']],
	},
	{
		code: 'SE',
		language: 'sv',
		timezone: 'Europe/Stockholm',
		currency: 'SEK',
		phone: '+468465004##',
		postalCode: '1## ##',
		street: 'Storgatan #',
		legalForm: 'AB',
		cities: [
			['Stockholm', 'Stockholm'],
			['Göteborg', 'Västra Götaland'],
			['Malmö', 'Skåne'],
			['Uppsala', 'Uppsala'],
			['Örebro', 'Örebro'],
		],
	},
	{
		code: 'BR',
		language: 'pt-BR',
		timezone: 'America/Sao_Paulo',
		currency: 'BRL',
		phone: '+55110000####',
		postalCode: '01###-###',
		street: 'Avenida Paulista, #',
		legalForm: 'Ltda.',
		cities: [['São Paulo', 'SP'], ['Rio de Janeiro', 'RJ'], ['Curitiba', 'PR'], ['Recife', 'PE'], ['Belo Horizonte', 'MG']],
	},
	{
		code: 'JP',
		language: 'ja',
		timezone: 'Asia/Tokyo',
		currency: 'JPY',
		phone: '+8130000####',
		postalCode: '1##-00##',
		street: 'Marunouchi #-2-1',
		legalForm: 'K.K.',
		cities: [['Tokyo', 'Tokyo'], ['Osaka', 'Osaka'], ['Nagoya', 'Aichi'], ['Sapporo', 'Hokkaido'], ['Fukuoka', 'Fukuoka']],
	},
	{
		code: 'AU',
		language: 'en-AU',
		timezone: 'Australia/Sydney',
		currency: 'AUD',
		phone: '+61255501###',
		postalCode: '2###',
		street: '# George Street',
		legalForm: 'Pty Ltd',
		cities: [['Sydney', 'NSW'], ['Melbourne', 'VIC'], ['Brisbane', 'QLD'], ['Perth', 'WA'], ['Adelaide', 'SA']],
	},
];
