const words = (text: string): string[] => text.split(' ');

/** Cities with their state or region; one alone is both. */
const cities = (text: string): Array<[string, string]> =>
	text.split(', ').map((place) => {
		const [city = '', state = city] = place.split(/ \(|\)/);
		return [city, state];
	});

/** The names of a country's people, and the patterns of its phone numbers, addresses and places. */
export interface Country {
	code: string;
	language: string;
	timezone: string;
	currency: string;
	legalForm: string;
	/**
	 * Hashes become digits. The ranges belong to no real phone: reserved for fiction where the country
	 * has such a range (Ofcom, BNetzA, ARCEP, PTS, ACMA, NANPA), otherwise unassigned.
	 */
	phone: string;
	postalCode: string;
	street: string;
	cities: Array<[string, string]>;
	/** Common given names, and family names. */
	first: string[];
	last: string[];
}

export const countries: readonly Country[] = [
	{
		code: 'DE', language: 'de', timezone: 'Europe/Berlin', currency: 'EUR', legalForm: 'GmbH',
		phone: '+493023125###', postalCode: '#####', street: 'Lindenstraße #',
		cities: cities('Berlin, Hamburg, München (Bayern), Köln (Nordrhein-Westfalen), Leipzig (Sachsen)'),
		first: words('Anna Jürgen Lena Matthias Sabine Felix Katharina Tobias Ingrid Moritz Birgit Jonas'),
		last: words('Müller Schneider Fischer Weber Krüger Wagner Schäfer Koch Richter Voß Lehmann Brandt'),
	},
	{
		code: 'ES', language: 'es', timezone: 'Europe/Madrid', currency: 'EUR', legalForm: 'S.L.',
		phone: '+34555######', postalCode: '28###', street: 'Calle Mayor #',
		cities: cities('Madrid, Barcelona (Cataluña), Sevilla (Andalucía), Valencia (Comunidad Valenciana), Bilbao (País Vasco)'),
		first: words('Ana José Lucía Carlos Marta Álvaro Carmen Diego Elena Íñigo Pilar Sergio'),
		last: words('García Moreno López Ruiz Hernández Muñoz Ortega Navarro Domínguez Vázquez Serrano'),
	},
	{
		code: 'FR', language: 'fr', timezone: 'Europe/Paris', currency: 'EUR', legalForm: 'SAS',
		phone: '+33199000###', postalCode: '75###', street: '# rue de la République',
		cities: cities(
			'Paris (Île-de-France), Lyon (Auvergne-Rhône-Alpes), Nantes (Pays de la Loire), Lille (Hauts-de-France), Toulouse (Occitanie)',
		),
		first: words('Camille Antoine Chloé Étienne Léa Guillaume Hélène Julien Margaux Nicolas Sophie Théo'),
		last: words('Martin Bernard Dubois Lefèvre Moreau Girard Roux Fournier Mercier Chevalier Gauthier'),
	},
	{
		code: 'GB', language: 'en-GB', timezone: 'Europe/London', currency: 'GBP', legalForm: 'Ltd',
		phone: '+442079460###', postalCode: 'SW1A #AA', street: '# Station Road',
		cities: cities('London (England), Manchester (England), Leeds (England), Edinburgh (Scotland), Cardiff (Wales)'),
		first: words('Oliver Amelia Harry Isla George Freya Callum Priya Rhys Eleanor Imran Siobhan'),
		last: words("Smith Taylor Davies Patel Wilson Hughes O'Connor Begum Campbell Thompson Khan Wright"),
	},
	{
		code: 'US', language: 'en-US', timezone: 'America/New_York', currency: 'USD', legalForm: 'Inc.',
		phone: '+121255501##', postalCode: '#####', street: '# Main Street',
		cities: cities('New York (NY), Austin (TX), Chicago (IL), Seattle (WA), Denver (CO)'),
		first: words('Emily Michael Sofia James Aaliyah Tyler Grace Carlos Hannah Marcus Chloe Ethan'),
		last: words('Johnson Williams Brown Garcia Miller Nguyen Anderson Jackson Kim Robinson Rivera Cooper'),
	},
	{
		code: 'SE', language: 'sv', timezone: 'Europe/Stockholm', currency: 'SEK', legalForm: 'AB',
		phone: '+468465004##', postalCode: '1## ##', street: 'Storgatan #',
		cities: cities('Stockholm, Göteborg (Västra Götaland), Malmö (Skåne), Uppsala, Örebro'),
		first: words('Astrid Erik Elsa Björn Freja Gustav Linnéa Oskar Maja Åke Saga Viktor'),
		last: words('Andersson Johansson Lindström Nilsson Sjöberg Bergqvist Öberg Holm Wallin Ekström'),
	},
	{
		code: 'BR', language: 'pt-BR', timezone: 'America/Sao_Paulo', currency: 'BRL', legalForm: 'Ltda.',
		phone: '+55110000####', postalCode: '01###-###', street: 'Avenida Paulista, #',
		cities: cities('São Paulo (SP), Rio de Janeiro (RJ), Curitiba (PR), Recife (PE), Belo Horizonte (MG)'),
		first: words('João Beatriz Thiago Larissa Antônio Gabriela Vinícius Helena Caio Luíza Rafael Mariana'),
		last: words('Silva Souza Oliveira Araújo Gonçalves Ribeiro Carvalho Almeida Barbosa Teixeira Cardoso'),
	},
	{
		code: 'JP', language: 'ja', timezone: 'Asia/Tokyo', currency: 'JPY', legalForm: 'K.K.',
		phone: '+8130000####', postalCode: '1##-00##', street: 'Marunouchi #-2-1',
		cities: cities('Tokyo, Osaka, Nagoya (Aichi), Sapporo (Hokkaido), Fukuoka'),
		first: words('Haruto Yui Ren Sakura Daiki Aoi Kenji Mei Takumi Hina Sota Emi'),
		last: words('Sato Suzuki Takahashi Tanaka Watanabe Ito Yamamoto Nakamura Kobayashi Kato Yoshida'),
	},
	{
		code: 'AU', language: 'en-AU', timezone: 'Australia/Sydney', currency: 'AUD', legalForm: 'Pty Ltd',
		phone: '+61255501###', postalCode: '2###', street: '# George Street',
		cities: cities('Sydney (NSW), Melbourne (VIC), Brisbane (QLD), Perth (WA), Adelaide (SA)'),
		first: words('Charlotte Jack Matilda Noah Ruby Lachlan Zoe Angus Mia Cooper Indi Hugo'),
		last: words('Jones White Walker Kelly Ryan Martin Singh Murphy Chen Clarke Bennett Doyle'),
	},
];
